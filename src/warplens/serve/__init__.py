"""Serve: a page on this machine in which a kernel is edited, and its counts and prediction follow.

In: a .cu file or a lab.  Out: a server on 127.0.0.1 that answers one page.

access_check.py   who is answered: token, Host, Origin
http_server.py    addresses of the page: what it loads, asks and gets streamed (server-sent events)
page_events.py    one question of the page, from its text to the events that answer it
worker_pool.py    processes that compile and execute, ready before they are needed; ended with all that they started
worker_process.py such a process: its limits (sandbox.py, include_check.py), and the steps that it is asked for
kernel_session.py these steps: compile, count, predict, report
"""
