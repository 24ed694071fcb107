//! Texts whose lines are meant in another way than they stand: broken rows, columns of times and numbers, tables.

use std::collections::BTreeMap;

use audit::{Known, Source};
use figure::evidence::audit::UNJUDGED;
use figure::{Reading, Record, Verdict};

use crate::published::{figure, judged, nothing, says, value};

/// Verdict and value.
type Said = (Option<Verdict>, Option<f64>);
/// What stands before a line, by its number.
type Column = fn(usize) -> String;

/// Verdict and value of each figure, by its id; `None` where the text is refused.
fn verdicts(text: &str) -> Option<BTreeMap<String, Said>> {
    audit::figures(&[Source::of("x", text)], &Known::default()).ok()?;
    let record = judged(&[text], &nothing());
    Some(record.figures.into_iter().map(|own| (own.id, (own.verdict, own.value))).collect())
}

/// For each rate how many rounds it has.
fn rounds(record: &Record) -> Vec<usize> {
    let rates = record.figures.iter().filter(|own| own.id.ends_with(".rate"));
    rates.map(|own| own.rounds.len()).collect()
}

/// A text as a mail client breaks it: at the last space before the margin.
fn by_words(text: &str, margin: usize, quote: &str) -> String {
    let mut all = String::new();
    for line in text.lines() {
        let mut rest = line.to_owned();
        let mut mark = quote;
        loop {
            let end = rest.char_indices().nth(margin).map(|(end, _)| end);
            let indent = rest.len() - rest.trim_start().len();
            let space = end.and_then(|end| rest[..end].rfind(' ')).filter(|space| *space > indent);
            let Some(space) = space else { break };
            all += &format!("{mark}{}\n", rest[..space].trim_end());
            rest = rest[space..].trim_start().to_owned();
            mark = "";
        }
        all += &format!("{mark}{rest}\n");
    }
    all
}

/// A text as a terminal breaks it.
fn by_column(text: &str, margin: usize) -> String {
    let pieces = text.lines().flat_map(|line| {
        let all: Vec<char> = line.chars().collect();
        let pieces: Vec<String> = all.chunks(margin).map(|own| own.iter().collect()).collect();
        if pieces.is_empty() { vec![String::new()] } else { pieces }
    });
    pieces.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Texts with rows that are longer than the margin.
const WIDE: &[(&str, &str)] = &[
    ("k6-15", include_str!("data/k6-15.txt")),
    ("google-benchmark-977", include_str!("data/google-benchmark-977.txt")),
    ("pidstat-stress", include_str!("data/pidstat-stress.txt")),
    ("vmstat-read", include_str!("data/vmstat-read.txt")),
    ("perf-sound", include_str!("data/perf-sound.txt")),
    ("jmh-165", include_str!("data/jmh-165.txt")),
];

/// The first of several runs, behind a command that fits the margin.
fn first_of<'a>(name: &str, text: &'a str) -> &'a str {
    if name == "perf-sound" { text.split("\n$ ").next().unwrap() } else { text }
}

#[test]
fn rows_that_were_broken_are_put_together() {
    let mut failed = Vec::new();
    for (name, text) in WIDE {
        let text = first_of(name, text);
        let whole = verdicts(text);
        for margin in [64, 70, 72, 76, 78] {
            for (how, broken) in [
                ("words", by_words(text, margin, "")),
                ("quoted", by_words(text, margin, "> ")),
                ("prose", format!("{PROSE}\n{}\n{PROSE}", by_words(text, margin, ""))),
            ] {
                if verdicts(&broken) != whole {
                    failed.push(format!("{name} at {margin}, {how}"));
                }
            }
        }
        // A part of a name is a name, too.
        if *name != "pidstat-stress" && verdicts(&by_column(text, 80)) != whole {
            failed.push(format!("{name} at column 80"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Lines of an author, broken by a mail client.
const PROSE: &str = "I have run it on the new machine, and this is what it says. It looks\nslower than what others posted here, and I do not know why that is.\n";

/// Texts with lines of many kinds, and such as have columns of their own.
const MANY: &[(&str, &str)] = &[
    ("hey-227", include_str!("data/hey-227.txt")),
    ("google-benchmark-977", include_str!("data/google-benchmark-977.txt")),
    ("jmh-165", include_str!("data/jmh-165.txt")),
    ("sysbench-1k", include_str!("data/sysbench-1k.txt")),
    ("perf-sound", include_str!("data/perf-sound.txt")),
    ("ab-26", include_str!("data/ab-26.txt")),
];

#[test]
fn columns_of_times_and_numbers_are_a_logs() {
    let columns: &[(&str, Column)] = &[
        ("time", |at| format!("12:{:02}:{:02} ", at / 60 % 60, at % 60)),
        ("time in brackets", |at| format!("[12:{:02}:{:02}]", at / 60 % 60, at % 60) + " "),
        ("milliseconds", |at| format!("12:00:{:02}.{:03} ", at / 20 % 60, at * 37 % 20 + at % 20 * 40)),
        ("seconds", |at| format!("{:.3} ", 12.0 + at as f64 * 0.013)),
        ("since 1970", |at| format!("{} ", 1_716_461_102 + at / 9)),
        ("morning", |at| format!("10:{:02}:{:02} AM ", at / 60 % 60, at % 60)),
        ("day", |at| format!("20240523 10:{:02}:{:02} ", at / 60 % 60, at % 60)),
        ("numbers", |at| format!("{:4}  ", at + 17)),
        ("numbers and colons", |at| format!("{}: ", at + 17)),
        ("numbers and bars", |at| format!("{:3}| ", at + 17)),
        ("numbers and points", |at| format!("{}. ", at + 1)),
        ("numbers and tabs", |at| format!("{:6}\t", at + 1)),
        ("numbers with zeros", |at| format!("{:04} ", at + 1)),
    ];
    let mut failed = Vec::new();
    for (name, text) in MANY {
        let bare = verdicts(text);
        for (how, column) in columns {
            let stamped: String =
                text.lines().enumerate().map(|(at, line)| format!("{}{line}\n", column(at))).collect();
            if verdicts(&stamped) != bare {
                failed.push(format!("{name} behind {how}"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Intel MLC's tables in Markdown.
const MLC: &str = "Intel(R) Memory Latency Checker - v3.9\nMeasuring idle latencies (in ns)...\n\n| Numa node | 0 | 1 |\n|---|---|---|\n| 0 | 81.2 | 139.5 |\n| 1 | 140.1 | 82.0 |\n\nMeasuring Peak Injection Memory Bandwidths for the system\n\n| Mix | MB/s |\n|:----|-----:|\n| ALL Reads | 196234.5 |\n| 3:1 Reads-Writes | 180123.4 |\n| 2:1 Reads-Writes | 178234.1 |\n| 1:1 Reads-Writes | 160123.9 |\n| Stream-triad like | 165432.1 |\n";

#[test]
fn tables_of_mlc_are_read_each_in_its_own_way() {
    let record = judged(&[MLC], &nothing());
    assert!((value(&record, "mlc.reads") - 196.2345).abs() < 1e-6);
    assert!((value(&record, "mlc.triad-like") - 165.4321).abs() < 1e-6);
    let latencies = record.figures.iter().filter(|own| own.unit.symbol() == "ns").count();
    assert!(latencies >= 2, "{:?}", record.figures.iter().map(|own| &own.id).collect::<Vec<_>>());
    assert!(record.figures.iter().all(|own| own.verdict <= Some(Verdict::Unverified)));
}

/// Lines of `time -v`: what is before the colon, and values of two runs.
const TIMES: [(&str, &str, &str); 8] = [
    ("Command being timed", "\"./build.sh\"", "\"./build.sh\""),
    ("User time (seconds)", "12.31", "6.10"),
    ("System time (seconds)", "1.20", "0.60"),
    ("Percent of CPU this job got", "99%", "99%"),
    ("Elapsed (wall clock) time (h:mm:ss or m:ss)", "0:13.60", "0:06.75"),
    ("Major (requiring I/O) page faults", "0", "0"),
    ("Minor (reclaiming a frame) page faults", "45678", "12345"),
    ("Exit status", "0", "0"),
];

#[test]
fn tables_of_time_are_read_as_its_report() {
    let plain: String = TIMES.iter().map(|(label, one, _)| format!("\t{label}: {one}\n")).collect();
    let bare = verdicts(&plain).unwrap();
    let table: String = TIMES.iter().map(|(label, one, _)| format!("| {label} | {one} |\n")).collect();
    for text in [
        format!("| Metric | Value |\n|---|---|\n{table}"),
        format!("Here it is:\n\n| Metric | Value |\n|:---|---:|\n{table}\nand so on\n"),
        format!("| **Metric** | **Value** |\n|---|---|\n{}", table.replace("| ", "| `").replace(" |", "` |")),
        format!("+----+----+\n{table}+----+----+\n"),
    ] {
        assert_eq!(verdicts(&text).as_ref(), Some(&bare), "{text}");
    }
    // Two runs in two columns are two figures.
    let both: String =
        TIMES.iter().map(|(label, one, two)| format!("| {label} | {one} | {two} |\n")).collect();
    for head in ["| Metric | before | after |", "| | before | after |"] {
        let record = judged(&[&format!("{head}\n|---|---|---|\n{both}")], &nothing());
        let faults: Vec<f64> = record
            .figures
            .iter()
            .filter(|own| own.id.ends_with(".minor") || own.id.ends_with(".faults"))
            .filter_map(|own| own.value)
            .collect();
        assert!(faults.contains(&45678.0) && faults.contains(&12345.0), "{head}: {faults:?}");
    }
}

/// UnixBench 4.1 with these times of Dhrystone and these indices.
fn unixbench(seconds: &str, index: f64) -> String {
    format!(
        "  BYTE UNIX Benchmarks (Version 4.1.0)\n  System -- Linux box 2.6.18 i686\n  Start Benchmark Run: Thu Sep  5 21:19:59 BST \
         2002\nDhrystone 2 using register variables     1652853.2 lps   ({seconds} secs, 10 samples)\nPipe Throughput                  \
         441098.3lps   (10.0 secs, 10 samples)\nArithmetic Test (type = double)   208795.8 lps   (10.0 secs, 3 samples)\n\n              \
         INDEX VALUES            \nTEST                                        BASELINE     RESULT      INDEX\n\nDhrystone 2 using \
         register variables        116700.0  1652853.2      141.6\nPipe Throughput                              12440.0   441098.3      \
         354.6\n                                                                 =========\n     FINAL SCORE                             \
         {index:.1}\n"
    )
}

#[test]
fn unixbench_4_has_an_index_of_its_own() {
    let record = judged(&[&unixbench("10.0", 224.1)], &nothing());
    assert_eq!(value(&record, "unixbench.dhry2reg.c1"), 1_652_853.2);
    assert_eq!(value(&record, "unixbench.pipe.c1"), 441_098.3);
    assert_eq!(value(&record, "unixbench.index.c1"), 224.1);
    assert!(
        record.figures.iter().all(|own| own.verdict <= Some(Verdict::Unverified)),
        "{:#?}",
        record.figures
    );
    let unjudged = record.figures.iter().find_map(|own| own.evidence.get(UNJUDGED).into_value());
    assert!(unjudged.is_some_and(|others| others.contains("Arithmetic Test")));
    // The law of its time, and of its index.
    let late = judged(&[&unixbench("17.2", 224.1)], &nothing());
    assert_eq!(says(&late, "unixbench.dhry2reg.c1").1, "too-short");
    let wrong = judged(&[&unixbench("10.0", 324.1)], &nothing());
    assert_eq!(
        says(&wrong, "unixbench.index.c1"),
        (Some(Verdict::Invalid), "inconsistent-totals".to_owned())
    );
}

/// h2load's report of so many requests in so many seconds, one after the other.
fn h2load(requests: f64, seconds: f64) -> String {
    let (rate, mean) = (requests / seconds, seconds / requests * 1e3);
    format!(
        "$ h2load -n{requests} -c1 -m1 https://127.0.0.1:8443/\nstarting benchmark...\nspawning thread #0: 1 total client(s). {requests} \
         total requests\nApplication protocol: h2\n\nfinished in {seconds:.2}s, {rate:.2} req/s, 24.88MB/s\nrequests: {requests} total, \
         {requests} started, {requests} done, {requests} succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: {requests} 2xx, 0 3xx, 0 \
         4xx, 0 5xx\n                     min         max         mean         sd        +/- sd\ntime for request:   {:.2}ms   {:.2}ms   \
         {mean:.2}ms     0.10ms    75.00%\n",
        0.9 * mean,
        1.1 * mean
    )
}

#[test]
fn a_load_of_few_requests_is_short_however_long_it_lasts() {
    for (requests, seconds, verdict) in [
        (1.0, 4.0, Verdict::Suspect),
        (4.0, 4.02, Verdict::Suspect),
        (9.0, 60.0, Verdict::Suspect),
        (10.0, 4.0, Verdict::Valid),
        (500.0, 2.0, Verdict::Valid),
        (500.0, 0.5, Verdict::Suspect),
    ] {
        let record = judged(&[&h2load(requests, seconds)], &nothing());
        let reason = if verdict == Verdict::Suspect { "too-short" } else { "" };
        for id in ["h2load.rate", "h2load.mean"] {
            let (own, why) = says(&record, id);
            assert_eq!((own, why.as_str()), (Some(verdict), reason), "{requests} in {seconds} s: {id}");
        }
    }
    // k6 with one request.
    let of = |name: &str| {
        format!("{name}: avg=639.03ms min=639.03ms med=639.03ms max=639.03ms p(90)=639.03ms p(95)=639.03ms\n")
    };
    let text = format!(
        "{}http_reqs..................: 1      0.249921/s\n{}iterations.................: 1      0.249921/s\nvus........................: \
         1      min=1 max=1\nvus_max....................: 1      min=1 max=1\n",
        of("http_req_duration.........."),
        of("iteration_duration.........").replace("639.03ms", "4s")
    );
    let record = judged(&[&text], &nothing());
    assert_eq!(says(&record, "k6.rate"), (Some(Verdict::Suspect), "too-short".to_owned()));
    assert!(record.figure("audit.k6.p90").is_none());
    let unjudged = figure(&record, "k6.rate").evidence.get(UNJUDGED);
    assert!(matches!(unjudged, Reading::Value(what) if what.contains("p50, p90 of 1 request")));
}

/// vegeta's report of 500 requests at 100/s; `failed` of them had another status.
fn vegeta(failed: u32) -> String {
    let answered = 500 - failed;
    format!(
        "Requests      [total, rate, throughput]  500, 100.20, {:.2}\nDuration      [total, attack, wait]      5.01s, 4.99s, 20.1ms\nLatencies \
         [mean, 50, 95, 99, max]    20.1ms, 19.8ms, 30.2ms, 50.1ms, 80.2ms\nSuccess       [ratio]                    {:.2}%\nStatus Codes  \
         [code:count]               200:{answered}  503:{failed}\nError Set:\n503 Service Unavailable\n",
        f64::from(answered) / 5.01,
        f64::from(answered) / 5.0
    )
}

#[test]
fn a_rate_is_met_by_answers_of_any_status() {
    for failed in [167, 324] {
        let record = judged(&[&vegeta(failed)], &nothing());
        assert_eq!(says(&record, "vegeta.rate"), (Some(Verdict::Invalid), "errors-as-work".to_owned()));
        let checks = &figure(&record, "vegeta.rate").checks;
        let met = checks.iter().find(|check| check.id == "rate-met").unwrap();
        assert!(met.detail.contains("answered at the rate"), "{}", met.detail);
    }
    // Requests without an answer are missing of the rate.
    let text =
        vegeta(324).replace("200:176  503:324", "0:324  200:176").replace("503 Service Unavailable", "EOF");
    let record = judged(&[&text], &nothing());
    let checks = &figure(&record, "vegeta.rate").checks;
    assert!(checks.iter().any(|check| check.id == "rate-met" && check.detail.contains("of 100")));
}

/// wrk's report of 64 connections, each for `mean` milliseconds.
fn wrk(mean: f64) -> String {
    let rate = 64.0 / mean * 1e3;
    format!(
        "Running 10s test @ http://127.0.0.1:8080\n  2 threads and 64 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
         Latency   {mean:.2}ms    0.10ms  53.00ms   77.78%\n    Req/Sec     5.06k   326.95     5.77k    67.75%\n  {:.0} requests in 10.00s, \
         285.57MB read\nRequests/sec: {rate:.2}\nTransfer/sec:     14.21MB\n",
        rate * 10.0
    )
}

#[test]
fn commands_and_versions_tell_runs_apart() {
    let names = [("main", "fast"), ("v1.2", "v2.0"), ("kernel-6.1", "kernel-6.8"), ("nginx", "apache")];
    let forms = [
        "$ git checkout {}",
        "git switch {}",
        "$ cd ~/src/{}",
        "cd {} && make",
        "MODE={}",
        "+ export MODE={}",
        "$ nvm use {}",
        "$ module load {}",
        "# systemctl restart {}",
        "$ ./run.sh {}",
        "$ cat {}.txt",
        "user@host:~$ ./{} --listen 8080 &",
        "# {}",
        "#{}",
        "= {} =",
        "=== {} ===",
        "# --- {} ---",
        "%% {}",
        "~~~ {} ~~~",
        "Result: {}",
        "File: {}.txt",
        ":rocket: {}",
        "[b]{}[/b]",
        "GET http://127.0.0.1:8080/{}",
    ];
    let mut failed = Vec::new();
    for form in forms {
        for (one, other) in names {
            let of = |name: &str, mean: f64| format!("{}\n\n{}\n", form.replace("{}", name), wrk(mean));
            let apart = format!("Here it is.\n\n{}{}", of(one, 1.0), of(other, 3.0));
            let again = format!("Here it is.\n\n{}{}", of(one, 1.0), of(one, 1.01));
            let own = (rounds(&judged(&[&apart], &nothing())), rounds(&judged(&[&again], &nothing())));
            if own != (vec![1, 1], vec![2]) {
                failed.push(format!("{form} of {one}, {other}: {own:?}"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    for (one, other) in [("kernel 6.1", "kernel 6.8"), ("Linux 5.4.0", "Linux 6.1.0"), ("Java 17", "Java 21")]
    {
        for form in ["{}", "# {}", "**{}**", "- {}", "[{}]", "== {} =="] {
            let of = |name: &str, mean: f64| format!("{}\n\n{}\n", form.replace("{}", name), wrk(mean));
            let text = format!("Here it is.\n\n{}{}", of(one, 1.0), of(other, 3.0));
            assert_eq!(rounds(&judged(&[&text], &nothing())), [1, 1], "{form} of {one}");
        }
    }
    // What changes nothing tells no runs apart.
    for between in
        ["$ sleep 10", "# sync; echo 3 > /proc/sys/vm/drop_caches", "$ cat run2.txt", "$ uptime", "$ ls -l"]
    {
        let text = format!("$ cat run1.txt\n{}\n{between}\n{}", wrk(1.0), wrk(1.01));
        assert_eq!(rounds(&judged(&[&text], &nothing())), [2], "{between}");
    }
}

#[test]
fn a_command_has_what_a_lost_first_line_had() {
    let bombardier = |rate: f64| {
        format!(
            "$ bombardier -c 1 -n 100 http://127.0.0.1:8080\nStatistics        Avg      Stdev        Max\n  Reqs/sec      {rate:.2}      \
             67.10    1470.52\n  Latency      100.21ms   130.73ms      1.21s\n  HTTP codes:\n    1xx - 0, 2xx - 100, 3xx - 0, 4xx - 0, 5xx - \
             0\n    others - 0\n  Throughput:   122.63KB/s\n"
        )
    };
    // The rate is a mean over windows, and the latencies are each measured alone.
    let record = judged(&[&bombardier(12.58)], &nothing());
    assert_eq!(says(&record, "bombardier.rate"), (Some(Verdict::Invalid), "inconsistent-totals".to_owned()));
    assert!(says(&record, "bombardier.mean").0 <= Some(Verdict::Unverified));
    let record = judged(&[&bombardier(9.98)], &nothing());
    assert!(
        record.figures.iter().all(|own| own.verdict <= Some(Verdict::Unverified)),
        "{:#?}",
        record.figures
    );
    // wrk's own timeout is named only where it is the default.
    let late = |option: &str| {
        let text = wrk(8.0)
            .replace("Requests/sec", "Socket errors: connect 0, read 0, write 0, timeout 300\nRequests/sec");
        let record =
            judged(&[&format!("$ wrk -t2 -c64 -d10s{option} http://127.0.0.1:8080\n{text}")], &nothing());
        let checks = &figure(&record, "wrk.mean").checks;
        checks.iter().find(|check| check.id == "timeouts-excluded").map(|check| check.detail.clone()).unwrap()
    };
    assert!(late("").contains("(2 s)") && !late(" --timeout 6").contains("(2 s)"));
}
