//! The command before a run, in the ways that people write it: what it supplies, and what is no command.

use figure::evidence::PLACEMENT;
use figure::evidence::audit::{COMMAND, CONNECTIONS_FROM};
use figure::evidence::http::{CONNECTIONS, RATE_ASKED};
use figure::{Figure, Verdict};

use crate::published::{judged, nothing};

/// hey's report of 100 connections: 3387.673/s with a mean of 29 ms are 98 in flight.
const HEY: &str = "Summary:\n  Total:\t3.017 secs\n  Slowest:\t0.168 secs\n  Fastest:\t0.007 secs\n  Average:\t0.029 secs\n  \
                   Requests/sec:\t3387.673\n\nStatus code distribution:\n  [200]\t10221 responses\n";
/// oha's, of 10 connections: 10016.9/s with a mean of 1 ms.
const OHA: &str = "Summary:\n  Success rate:\t100.00%\n  Total:\t4.9915 secs\n  Slowest:\t0.0026 secs\n  Fastest:\t0.0005 secs\n  \
                   Average:\t0.0010 secs\n  Requests/sec:\t10016.9373\n\nStatus code distribution:\n  [200] 50000 responses\n";
/// A round trip; its tasks may have run on one CPU or two.
const PIPE: &str = "# Running 'sched/pipe' benchmark:\n# Executed 1000000 pipe operations between two processes\n\n     \
                    Total time: 2.381 [sec]\n\n       2.381081 usecs/op\n         419977 ops/sec\n";

/// The figure of this id in a report behind these lines.
fn behind(lines: &str, report: &str, id: &str) -> Figure {
    let record = judged(&[&format!("{lines}\n\n{report}")], &nothing());
    record.figure(id).unwrap_or_else(|| panic!("{lines}: no {id}")).clone()
}

fn connections(lines: &str, report: &str, tool: &str) -> Option<f64> {
    let rate = behind(lines, report, &format!("audit.{tool}.rate"));
    assert_ne!(rate.verdict, Some(Verdict::Invalid), "{lines}: {:#?}", rate.checks);
    rate.conditions.get(CONNECTIONS)
}

#[test]
fn a_line_that_only_names_the_tool_is_no_command() {
    for lines in [
        "",
        "### hey",
        "# hey",
        "## hey -c 50 against wrk -c 100",
        "Results from hey (100 workers)",
        "hey: results",
        "hey, here are my numbers",
        "hey there, see http://example.com for the setup",
        "We used hey with -c 100 here.",
        "hey's output, and oha's",
        "make hey",
        "make bench-hey URL=http://localhost",
        "$ make hey && ./bench.sh",
        "cargo install oha",
        "sudo apt install hey",
        "brew install hey oha",
        "go install github.com/rakyll/hey@latest",
        "$ which hey",
        "ls /usr/local/bin/hey",
        "cat hey.txt",
        "./run.sh hey",
        "docker pull rakyll/hey",
        "| tool | hey |",
        "`hey`",
        "hey v0.1.4",
        "hey -Y 7 http://localhost",
        "oha --a-later-option 7 http://localhost",
    ] {
        assert_eq!(connections(lines, HEY, "hey"), None, "{lines}");
        assert_eq!(connections(&lines.replace("hey", "oha"), OHA, "oha"), None, "{lines}");
        let mean = behind(lines, HEY, "audit.hey.mean");
        assert_eq!(mean.verdict, Some(Verdict::Unverified), "{lines}");
        assert!(mean.checks.iter().any(|check| check.detail.contains("--connections")), "{lines}");
    }
}

#[test]
fn a_command_is_known_in_other_shells() {
    for command in [
        "!hey -z 3s -c 100 http://a/",
        "user@host:~$hey -z 3s -c 100 http://a/",
        "[root@host ~]#hey -z 3s -c 100 http://a/",
        "12:34:56 user@host ~ \u{2192} hey -z 3s -c 100 http://a/",
        "PS C:\\Users\\user> .\\hey.exe -z 3s -c 100 http://a/",
        "$ ssh client 'hey -z 3s -c 100 http://a/'",
        "ssh -p 2222 user@client \"sudo taskset -c 0 hey -z 3s -c 100 http://a/\"",
    ] {
        assert_eq!(connections(command, HEY, "hey"), Some(100.0), "{command}");
    }
    for line in ["see a@b:c#hey -c 100", "!important hey -c 100 http://a/", "ssh client \"echo hey\""] {
        assert_eq!(connections(line, HEY, "hey"), None, "{line}");
    }
}

#[test]
fn options_are_known_behind_the_dashes_of_pages() {
    for command in [
        "hey \u{2013}c 100 \u{2013}z 3s http://a/",
        "$ hey \u{2014}z 3s \u{2014}c 100 http://a/",
        "hey \u{2010}z 3s \u{2212}c 100 http://a/",
        "hey \u{2014}disable-keepalive \u{2013}c 100 http://a/",
        "hey -H \u{201c}Accept: text/html, text/plain\u{201d} -c 100 http://a/",
    ] {
        assert_eq!(connections(command, HEY, "hey"), Some(100.0), "{command}");
    }
}

#[test]
fn a_list_of_commands_does_not_show_which_one_was_run() {
    let (one, other) = ("hey -z 3s -c 50 http://a/", "hey -z 3s -c 100 http://a/");
    for (lines, known) in [
        (format!("{one}\n{other}"), None),
        (format!("```\n{one}\n\n# with more\n{other}\n```\n\nThe results:\n"), None),
        (format!("{other}\n{one}\n{other}"), None),
        // They agree on what counts.
        (format!("hey -z 5s -c 100 http://a/\n{other}"), Some(100.0)),
        // Prompts show that each was run, and what stands between that the first was.
        (format!("$ {one}\n$ {other}"), Some(100.0)),
        (format!("{one}\nconnect: refused\n{other}"), Some(100.0)),
        (format!("\u{2570}\u{2500}\u{27a4}  {other}"), Some(100.0)),
    ] {
        assert_eq!(connections(&lines, HEY, "hey"), known, "{lines}");
    }
}

#[test]
fn a_number_that_the_shell_puts_in_is_not_known() {
    for lines in [
        "hey -c $CONC -z 3s http://localhost:8080/",
        "hey -c \"$N\" http://localhost:8080/",
        "hey -c=${N} http://localhost:8080/",
        "hey -c $(nproc) http://localhost:8080/",
        "hey -c `nproc` http://localhost:8080/",
        "for N in 50 100; do hey -c $N -z 3s http://localhost:8080/; done",
        "for N in 50 100; do\n  hey -c \"$N\" \\\n    http://localhost:8080/\ndone",
        "hey -c <N> http://localhost:8080/",
        "hey -c many http://localhost:8080/",
    ] {
        assert_eq!(connections(lines, HEY, "hey"), None, "{lines}");
    }
}

#[test]
fn a_command_is_read_however_it_is_started_and_written() {
    let starts = [
        "",
        "$ ",
        "# ",
        "% ",
        "> ",
        "❯ ",
        "PS> ",
        "PS C:\\Users\\me> ",
        "user@host:~$ ",
        "[user@host dir]$ ",
        "root@3f2a:/# ",
        "(venv) user@host:~/x$ ",
        "+ ",
        "- ",
        "1. ",
        "Command: ",
        "The command line: ",
        "# $ ",
        "$ sudo ",
        "time ",
        "$ /usr/bin/time -v ",
        "GOMAXPROCS=4 ",
        "env GOMAXPROCS=4 ",
        "taskset -c 0-3 ",
        "numactl --cpunodebind=0 --membind=0 ",
        "nice -n -5 ",
        "timeout 60 ",
        "cd /tmp && ",
        "ulimit -n 65536; ",
        "./",
        "/usr/local/bin/",
        "docker run --rm --net=host rakyll/",
        "docker run --rm -it --name hey --network host alpine ",
        "kubectl exec -it pod-1 -n bench -- ",
        "kubectl run hey --rm -i --image=rakyll/hey -- ",
        "ssh client ",
        "go run github.com/rakyll/",
    ];
    for start in starts {
        let line = format!("{start}hey -c 100 -z 3s http://localhost:8080/");
        assert_eq!(connections(&line, HEY, "hey"), Some(100.0), "{line}");
        let line = format!("{start}oha -c 10 -z 5s --no-tui http://localhost:8080/").replace("hey", "oha");
        assert_eq!(connections(&line, OHA, "oha"), Some(10.0), "{line}");
    }
    for line in [
        "hey --c 100 http://localhost",
        "hey -c=100 http://localhost",
        "hey --c=100 -n=20000 http://localhost",
        "hey -c \"100\" 'http://localhost/?a=1&b=2'",
        "hey -z 3s \\\n  -c 100 \\\n  http://localhost",
        "hey -n 10000 -c 100 -m POST -d '{\n  \"a\": 1\n}' http://localhost",
        "hey -c 100 http://localhost | tee out.txt",
        "hey -c 100 http://localhost > out.txt 2>&1; cat out.txt",
        "hey -c 100 -H 'Host: a' -H \"Accept: */*\" localhost:8080   # warm",
        "`hey -c 100 http://localhost`",
        "I ran `hey -c 100 http://localhost` twice:",
        "bash -c 'hey -c 100 http://localhost'",
        "docker exec client sh -c \"hey -c 100 http://localhost\"",
        "for i in 1 2 3; do hey -c 100 http://localhost; done",
        "hey's numbers, and it's late:\n$ hey -c 100 http://localhost\nhere's what it printed:",
        "hey_linux_amd64 -c 100 http://localhost",
        "hey.exe -c 100 http://localhost",
        "hey -c 50 -c 100 http://localhost",
    ] {
        assert_eq!(connections(line, HEY, "hey"), Some(100.0), "{line}");
    }
    for line in
        ["oha -c10 http://x.y", "oha --no-tui -c 10 <URL>", "oha -z 5s -c=10 -q 0 http://x.y -o a.txt"]
    {
        assert_eq!(connections(line, OHA, "oha"), Some(10.0), "{line}");
    }
}

#[test]
fn a_default_counts_where_the_whole_command_was_understood() {
    let quick = HEY.replace("0.029", "0.0148");
    for line in ["hey http://localhost", "$ hey -z 3s -m GET http://localhost", "hey -n 10000 localhost:80"] {
        assert_eq!(connections(line, &quick, "hey"), Some(50.0), "{line}");
    }
    let each = behind("hey -q 10 -c 100 http://localhost", HEY, "audit.hey.rate");
    assert_eq!(each.rounds[0].evidence.get(RATE_ASKED).into_value(), Some(1000.0));
}

#[test]
fn the_finding_names_the_connections_and_where_they_are_from() {
    let mean = behind("Some words.\n\n$ hey -c 100 http://localhost", HEY, "audit.hey.mean");
    assert_eq!(mean.evidence.get(CONNECTIONS_FROM).into_value().as_deref(), Some("line 3: hey -c 100 …"));
    let little = mean.checks.iter().find(|check| check.id == "littles-law").unwrap();
    let known = (little.values["connections"].as_f64(), little.values["source"].as_str());
    assert_eq!(known, (Some(100.0), Some("line 3: hey -c 100 …")));
    let known = audit::Known { connections: Some(100.0), ..nothing() };
    let record = judged(&[HEY], &known);
    let from = record.figure("audit.hey.mean").unwrap().evidence.get(CONNECTIONS_FROM).into_value();
    assert_eq!(from.as_deref(), Some("from --connections"));
    // A secret of a header is in no condition.
    let rate = behind("hey -c 100 -H 'Authorization: Bearer X1' http://localhost", HEY, "audit.hey.rate");
    assert!(!format!("{rate:?}").contains("X1"));
}

#[test]
fn a_command_belongs_to_the_run_behind_it() {
    let both = format!("hey -c 100 http://localhost\n{HEY}\nlater:\n{}", HEY.replace("3387.673", "1700.000"));
    let record = judged(&[&both], &nothing());
    assert_eq!(record.figure("audit.hey-2.rate").unwrap().conditions.get(CONNECTIONS), None);
    // A loop is the command of all its runs.
    let record =
        judged(&[&format!("for i in 1 2; do hey -c 100 http://localhost; done\n{HEY}{HEY}")], &nothing());
    assert_eq!(record.figure("audit.hey.rate").unwrap().used_rounds().count(), 2);
}

#[test]
fn one_cpu_is_a_placement_and_another_command_another_figure() {
    let command = "perf bench sched pipe";
    for start in [
        "taskset -c 0 ",
        "# taskset -c 3-3 ",
        "$ sudo taskset --cpu-list 5 ",
        "taskset --cpu-list=5 ",
        "taskset 0x8 ",
        "taskset 1 ",
        "numactl -C 3 ",
        "numactl --physcpubind=0 --localalloc ",
        "numactl --physcpubind 7 ",
        "chrt -f 10 taskset -c 0 ",
        "taskset -c 0 chrt -f 10 ",
        "docker run --rm --cpuset-cpus=2 img ",
        "sh -c 'taskset -c 0 ",
    ] {
        let quote = if start.contains('\'') { "'" } else { "" };
        let figure = behind(&format!("{start}{command}{quote}"), PIPE, "audit.perf-pipe.trip");
        assert!(figure.conditions.get(PLACEMENT).is_some(), "{start}");
        assert_eq!(figure.verdict, Some(Verdict::Valid), "{start}: {:#?}", figure.checks);
    }
    for start in [
        "",
        "taskset -c 0,1 ",
        "taskset -c 0-3 ",
        "taskset 0x3 ",
        "taskset f ",
        "numactl -N 0 ",
        "chrt -f 1 ",
        "nice ",
    ] {
        let figure = behind(&format!("{start}{command}"), PIPE, "audit.perf-pipe.trip");
        assert_eq!(
            (figure.conditions.get(PLACEMENT), figure.verdict),
            (None, Some(Verdict::Suspect)),
            "{start}"
        );
    }
    let two = format!("$ perf bench sched pipe\n{PIPE}\n$ taskset -c 0 perf bench sched pipe\n{PIPE}");
    let record = judged(&[&two], &nothing());
    assert_eq!(record.figures.len(), 2);
    let verdicts: Vec<_> = record.figures.iter().map(|figure| figure.verdict).collect();
    assert_eq!(verdicts, [Some(Verdict::Suspect), Some(Verdict::Valid)]);
    for (one, other) in
        [("taskset -c 0", "taskset -c 1"), ("perf bench sched pipe", "perf bench sched pipe -T")]
    {
        let command =
            |start: &str| if start.contains("perf") { start.into() } else { format!("{start} {command}") };
        let text = format!("{}\n{PIPE}\n{}\n{PIPE}", command(one), command(other));
        assert_eq!(judged(&[&text], &nothing()).figures.len(), 2, "{one}, {other}");
    }
    let same = format!("$ perf bench sched pipe\n{PIPE}\n# sudo perf bench sched pipe\n{PIPE}\n{PIPE}");
    let record = judged(&[&same], &nothing());
    assert_eq!((record.figures.len(), record.figures[0].used_rounds().count()), (1, 3));
    assert_eq!(record.figures[0].conditions.get(COMMAND), None);
}

#[test]
fn other_tools_have_the_same_commands() {
    let threads = |line: &str, report: &str, id: &str| {
        behind(line, report, id).conditions.get(figure::evidence::THREADS)
    };
    let table = "Function    Best Rate MB/s  Avg time     Min time     Max time\nCopy:           60000.0     0.0270     0.0267     0.0280\n";
    assert_eq!(threads("$ OMP_NUM_THREADS=24 ./stream", table, "audit.stream.copy"), Some(24.0));
    assert_eq!(threads("a stream of OMP_NUM_THREADS=24", table, "audit.stream.copy"), None);
    let memory = "8192.00 MiB transferred (1605.42 MiB/sec)\n";
    assert_eq!(threads("sysbench memory --threads=4 \\\n  run", memory, "audit.sysbench.memory"), Some(4.0));
    assert_eq!(threads("sysbench memory --threads=$N run", memory, "audit.sysbench.memory"), None);
    let walk = "\"stride=128\n0.00049 1.667\n64.00000 98.1\n";
    let order = |line: &str| {
        let id = "audit.lmbench.lat_mem_rd.s128";
        behind(line, walk, id).conditions.get(figure::evidence::ORDER)
    };
    assert_eq!(order("./lat_mem_rd -t 64M 128").as_deref(), Some("random"));
    assert_eq!(order("numactl -C 0 lat_mem_rd 64 128").as_deref(), Some("strided"));
    assert_eq!((order("lat_mem_rd shows"), order("### lat_mem_rd")), (None, None));
}
