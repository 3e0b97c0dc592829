"""The command line of tests/vm/guest."""
import argparse
import shutil
import subprocess
from pathlib import Path

from . import case, host, image, kernel, machine
from .results import Results
from .session import Session

TREE = Path(__file__).resolve().parents[3]


def main():
    options = _parser().parse_args()
    options.work = options.build.resolve() / "tests/vm" / ("" if options.command == "fixture" else "by_hand")
    try:
        return options.run(options)
    except host.Unavailable as error:
        print(f"guest: not run: {error}")
        return host.unavailable_status()
    except ValueError as error:
        print(f"guest: {error}")
        return 2
    except KeyboardInterrupt:
        return 130


def _parser():
    parser = argparse.ArgumentParser(
        prog="tests/vm/guest", description="Runs tests on the kernel's RDMA stack (rdma_rxe) inside a QEMU guest.",
        epilog="Exit status: 0 all passed, 1 a case failed, 2 wrong use, 77 this host cannot run the guest "
               "(1 with CI=true).")
    parser.add_argument("--build", type=Path, default=TREE / "build/release", metavar="FOLDER",
                        help="the build whose programs run in the guest (default: build/release)")
    commands = parser.add_subparsers(dest="command", required=True)

    run = commands.add_parser("run", help="run cases in one guest")
    run.add_argument("cases", nargs="*", metavar="CASE", help="default: all that the build has the programs for")
    run.add_argument("--capture", action="store_true", help="bring back veth0.pcap of each case (needs tcpdump)")
    run.set_defaults(run=_run)

    listing = commands.add_parser("list", help="show the cases")
    listing.set_defaults(run=_list)

    shell = commands.add_parser("shell", help="a shell in a guest; leave it with exit or ctrl-d")
    shell.add_argument("topology", nargs="?", choices=case.TOPOLOGIES, default="rxe_netns", metavar="TOPOLOGY",
                       help=f"one of {', '.join(case.TOPOLOGIES)} (default: rxe_netns)")
    shell.add_argument("--mtu", type=int, default=9000, help="of the veth pair (default: 9000)")
    shell.set_defaults(run=_shell)

    fixture = commands.add_parser("fixture", help="for ctest: run these cases and keep the results")
    fixture.add_argument("cases", nargs="+", metavar="CASE")
    fixture.set_defaults(run=_fixture)

    result = commands.add_parser("result", help="for ctest: print the log of a case that the fixture ran")
    result.add_argument("case", metavar="CASE")
    result.set_defaults(run=_result)
    return parser


def _built_programs(options):
    """Name → file of the executables that the build makes for the guest."""
    manifest = options.build.resolve() / "tests/vm/programs"
    if not manifest.exists():
        return {}
    return dict(line.split(" ", 1) for line in manifest.read_text().splitlines() if line)


def _available_targets(options):
    manifest = options.build.resolve() / "tests/vm/targets"
    return manifest.read_text().split() if manifest.exists() else []


def _lacks(each, options):
    """None, or what the build has to make first for this case."""
    built, targets = _built_programs(options), _available_targets(options)
    for target in each.targets:
        if target not in targets:
            return f"needs the target {target}, which {options.build} does not have"
        if target in built and not Path(built[target]).exists():
            return f"needs {target}; run: cmake --build {options.build} --target {target}"
    return None


def _programs(cases, options, extra=()):
    """Name → file of all that the cases run; raises if the host lacks one."""
    names = [name for each in cases for name in each.programs] + list(extra)
    host.require([*image.TOOLS, *names])
    built = _built_programs(options)
    wanted = {target for each in cases for target in each.targets} & set(built)
    return {name: host.find(name) for name in names} | {target: built[target] for target in sorted(wanted)}


def _run(options):
    wanted = case.named(options.cases) if options.cases else case.all_cases()
    lacking = {each: why for each in wanted if (why := _lacks(each, options))}
    if options.cases and lacking:
        raise ValueError("\n".join(f"{each.name} {why}" for each, why in lacking.items()))
    for each, why in lacking.items():
        print(f"not run {each.name}: {why}")
    cases = [each for each in wanted if each not in lacking]
    programs = _programs(cases, options, ["tcpdump"] if options.capture else [])
    session = Session(kernel.get(), programs, options.work, options.capture)
    session.run(cases)
    failed = [each for each in cases if session.results.status(each) != 0]
    for each in failed if len(cases) > 1 else cases:
        print(f"\n== {each.name}: {session.results.folder(each)}\n{session.results.log(each)}")
    return 1 if failed else 0


def _list(_):
    for each in case.all_cases():
        print(f"{each.name:32} {each.topology:10} {each.mtu:5}  {each.about}")
    return 0


def _shell(options):
    built = {name: path for name, path in _built_programs(options).items() if Path(path).exists()}
    names = {name for each in case.all_cases() for name in each.programs}
    host.require(image.TOOLS)
    programs = {name: host.find(name) for name in (*sorted(names), "tcpdump", "ibv_devinfo") if host.find(name)}
    share = options.work / "share"
    shutil.rmtree(share, ignore_errors=True)
    share.mkdir(parents=True)
    (share / "plan").write_text(f"{options.topology} {options.mtu}\n")
    with machine.one_guest_at_a_time():
        linux = kernel.get()
        initramfs = image.build(linux, {**programs, **built}, options.work)
        print(f"the guest's /share is {share}", flush=True)
        return subprocess.run(machine.command(linux, initramfs, share, "shell", None)).returncode


def _fixture(options):
    results = Results(options.work / "share/results")
    shutil.rmtree(options.work / "share", ignore_errors=True)
    try:
        lacking = {each: why for each in case.named(options.cases) if (why := _lacks(each, options))}
        cases = [each for each in case.named(options.cases) if each not in lacking]
        Session(kernel.get(), _programs(cases, options), options.work).run(cases)
        for each, why in lacking.items():
            results.fail(each, why)
            print(results.line(each))
    except host.Unavailable as error:
        results.write_unavailable(str(error))
        raise
    return 0


def _result(options):
    results = Results(options.build.resolve() / "tests/vm/share/results")
    if results.unavailable():
        raise host.Unavailable(results.unavailable())
    [wanted] = case.named([options.case])
    print(results.log(wanted))
    if not results.has(wanted):
        print(f"{wanted.name}: the guest's run has no result of this case")
        return 1
    return results.status(wanted)
