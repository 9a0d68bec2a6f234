/* A program that does what programs should not do; its first argument says what. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cudaMalloc(void **pointer, size_t size);
int cuGetExportTable(const void **table, const void *id);

enum { FILES = 64, FLOOD = 4 << 20 };

static void on_sockets(int garbage) {
    static const char words[256] = "these are not the bytes that a message begins with";
    struct stat found;
    for (int file = 3; file < FILES; file++)
        if (!fstat(file, &found) && S_ISSOCK(found.st_mode)) {
            if (garbage)
                (void)!write(file, words, sizeof words);
            else
                close(file);
        }
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    void *pointer;
    printf("%d malloc %d\n", getpid(), cudaMalloc(&pointer, 1 << 20));
    fflush(stdout);
    if (!strcmp(what, "close") || !strcmp(what, "garbage")) {
        on_sockets(!strcmp(what, "garbage"));
        usleep(700000);
        printf("then %d\n", cudaMalloc(&pointer, 1 << 20));
    } else if (!strcmp(what, "flood")) {
        char *text = malloc(FLOOD);
        memset(text, '\n', FLOOD);
        for (int file = 1; file < 3; file++)
            (void)!write(file, text, FLOOD);
    } else if (!strcmp(what, "fork")) {
        if (!fork()) {
            setsid();
            signal(SIGTERM, SIG_IGN);
            printf("%d\n", getpid());
            fflush(stdout);
            sleep(100);
        }
        usleep(100000);
    } else if (!strcmp(what, "never")) {
        signal(SIGTERM, SIG_IGN);
        for (;;)
            pause();
    } else if (!strcmp(what, "kill")) {
        kill(getpid(), SIGKILL);
    } else if (!strcmp(what, "table")) {
        const void *table;
        printf("table %d\n", cuGetExportTable(&table, "0123456789abcdef"));
    }
    return 0;
}
