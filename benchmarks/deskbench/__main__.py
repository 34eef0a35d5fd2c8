"""`python -m benchmarks.deskbench run|report|shorten`: jobs done by an assistant, and tables."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.deskbench.assistants import ASSISTANTS
from benchmarks.deskbench.jobs import choose_jobs, read_capabilities
from benchmarks.deskbench.report import write_report
from benchmarks.deskbench.runs import append_record, run_job, shorten_logs
from benchmarks.deskbench.servers import CARREL, make_server


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deskbench")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="do jobs on a server and log them")
    run.add_argument("--server", default="", help="command line ({desk}: the folder) or address")
    run.add_argument("--profile", default=CARREL, help="server's name in capabilities.toml")
    run.add_argument("--assistant", choices=sorted(ASSISTANTS), default="scripted")
    run.add_argument("--jobs", default="all", help="all, splits, kinds or ids, with commas")
    run.add_argument("--log", type=Path, default=Path(".run/deskbench/log.jsonl"))
    run.add_argument("--desks", type=Path, default=Path(".run/deskbench/desks"))
    run.add_argument("--reset", default="", help="command that puts the desk of an address back")
    report = commands.add_parser("report", help="logs as tables")
    report.add_argument("logs", type=Path, nargs="+")
    shorten = commands.add_parser("shorten", help="logs as one, with long answers of tools cut")
    shorten.add_argument("logs", type=Path, nargs="+")
    shorten.add_argument("--to", type=Path, required=True)
    options = parser.parse_args(words)
    if options.command == "shorten":
        shorten_logs(options.logs, options.to)
        return
    if options.command == "report":
        print(write_report(options.logs), end="")
        return
    run_jobs(options)
    print(write_report([options.log]), end="")


def run_jobs(options: argparse.Namespace) -> None:
    """Runs the jobs that the server supports; the log begins anew."""
    has = read_capabilities(options.profile)
    chosen = choose_jobs(options.jobs)
    jobs = [job for job in chosen if set(job.needs) <= has]
    if len(jobs) < len(chosen):
        print(f"{len(chosen) - len(jobs)} jobs need what {options.profile} does not have")
    options.desks.mkdir(parents=True, exist_ok=True)
    server = make_server(options.profile, options.server, options.desks.resolve(), options.reset)
    assistant = ASSISTANTS[options.assistant]()
    options.log.unlink(missing_ok=True)
    for job in jobs:
        with server.open_desk(job) as desk:
            record = run_job(job, desk, assistant)
        append_record(record, options.log)
        verdict = "done" if record.done else f"not done: {record.why}"
        print(f"{job.id}: {verdict} ({record.call_count} calls)", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
