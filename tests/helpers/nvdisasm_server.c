/* Fork server of nvdisasm, preloaded: one process an architecture answers for many pieces of code.
 *
 * nvdisasm opens the file of its command line twice: to see whether it is there, and to read it, after it has parsed
 * the description of the architecture, which takes 0.4 to 0.9 s.  There it waits for requests on stdin, a line each:
 * the file to read, the file to write.  A child reads the one and goes on as always; its exit code is written to
 * stdout. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *(*open_file)(const char *, const char *);

static FILE *served(const char *mode) {
    char line[8192];
    while (fgets(line, sizeof line, stdin)) {
        char *input = strtok(line, " \n"), *output = strtok(NULL, " \n");
        pid_t child = fork();
        if (child == 0) {
            int out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
            dup2(out, STDOUT_FILENO);
            dup2(out, STDERR_FILENO);
            return open_file(input, mode);
        }
        int status = 0;
        waitpid(child, &status, 0);
        dprintf(STDOUT_FILENO, "%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    }
    _exit(0);
}

FILE *fopen(const char *path, const char *mode) {
    static int opened;
    if (!open_file) open_file = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    const char *named = path + strlen(path);
    while (named > path && named[-1] != '/') named--;
    return !strcmp(named, "requests") && opened++ ? served(mode) : open_file(path, mode);
}
