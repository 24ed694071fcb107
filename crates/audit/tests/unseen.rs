//! Kinds of posted texts that the readers met late, each from a model of what the tool prints.

use audit::{Known, Source};
use figure::evidence::audit::UNJUDGED;
use figure::evidence::http::CONNECTIONS;
use figure::{Record, Verdict};

use crate::published::{figure, judged, nothing, says, value};

fn refusal(text: &str) -> String {
    audit::figures(&[Source::of("text", text)], &Known::default()).unwrap_err().to_string()
}

/// The ids of all figures that end so, with the number of their rounds.
fn ids(record: &Record, end: &str) -> Vec<(String, usize)> {
    let own = record.figures.iter().filter(|figure| figure.id.ends_with(end));
    own.map(|figure| (figure.id.clone(), figure.rounds.len())).collect()
}

/// What a check says of a figure.
fn detail(record: &Record, id: &str, check: &str) -> String {
    let checks = figure(record, id).checks.iter();
    checks.filter(|own| own.id == check).map(|own| own.detail.clone()).collect()
}

#[test]
fn streams_rates_have_the_unit_of_their_column() {
    // Arrays of 128 MiB, copied in 68 ms.
    let (bytes, seconds) = (2.0 * 128.0 * 1048576.0, 0.068);
    for (unit, size) in [("MB/s", 1e6), ("GB/s", 1e9), ("MiB/s", 1048576.0), ("GiB/s", 1073741824.0)] {
        for head in [format!("Rate ({unit})"), format!("Best Rate {unit}")] {
            let rate = bytes / seconds / size;
            let text = format!(
                "Function      {head}   Avg time     Min time     Max time\nCopy:  {rate:.4}  0.0682  {seconds:.4}  0.0691\n"
            );
            let copied = value(&judged(&[&text], &nothing()), "stream.copy");
            assert!((copied / (bytes / seconds / 1e9) - 1.0).abs() < 1e-3, "{head}: {copied}");
        }
    }
}

#[test]
fn pgbench_makes_its_connections_within_its_time() {
    let text = |connecting: f64, lasted: f64| {
        let (rate, clients) = (200.0, 50.0);
        format!(
            "transaction type: <builtin: TPC-B (sort of)>\nscaling factor: 30\nquery mode: simple\nnumber of clients: \
             {clients}\nnumber of threads: 4\nmaximum number of tries: 1\nduration: 60 s\nnumber of transactions actually \
             processed: {:.0}\nlatency average = {:.3} ms\ninitial connection time = {:.3} ms\ntps = {rate:.6} (without initial \
             connection time)\n",
            rate * lasted,
            clients / rate * 1e3,
            connecting * 1e3
        )
    };
    for connecting in [0.04, 2.0, 4.975, 20.0] {
        let record = judged(&[&text(connecting, 60.0 - connecting)], &nothing());
        assert_eq!(says(&record, "pgbench.rate").0, Some(Verdict::Valid), "{connecting}");
        let record = judged(&[&text(connecting, 0.5 * (60.0 - connecting))], &nothing());
        assert_eq!(says(&record, "pgbench.rate").1, "too-short", "{connecting}");
    }
}

/// All quantiles of wrk2, from these on in milliseconds, and its totals.
fn spectrum(median: f64) -> String {
    let mean = 1.05 * median;
    format!(
        "  Detailed Percentile spectrum:\n       Value   Percentile   TotalCount 1/(1-Percentile)\n\n      {:.3}     0.000000            \
         1         1.00\n      {median:.3}     0.500000          494         2.00\n      {:.3}     0.900000          879        \
         10.00\n      {:.3}     1.000000          976          inf\n#[Mean    =       {mean:.3}, StdDeviation   =        \
         3.502]\n#[Max     =       {:.3}, Total count    =          976]\n#[Buckets =           27, SubBuckets     =         \
         2048]\n----------------------------------------------------------\n  1463 requests in 30.01s, 505.35KB read\nRequests/sec:     \
         48.75\nTransfer/sec:     16.84KB\n",
        0.9 * median,
        1.2 * median,
        3.0 * median,
        3.0 * median
    )
}

#[test]
fn all_quantiles_are_wrk2s_without_its_head() {
    for median in [0.5, 19.583, 700.0] {
        let record =
            judged(&[&format!("- binary size: `37MB`\n\n```\n{}```\n", spectrum(median))], &nothing());
        assert_eq!(ids(&record, ".rate"), [("audit.wrk2.rate".to_owned(), 1)]);
        assert!((value(&record, "wrk2.mean") / (1.05 * median) - 1.0).abs() < 1e-3);
        assert!((value(&record, "wrk2.p50") / median - 1.0).abs() < 1e-3);
        assert!((value(&record, "wrk2.p90") / (1.2 * median) - 1.0).abs() < 1e-3);
        assert!(detail(&record, "wrk2.rate", "rate-met").contains("needs --rate"));
    }
    // The few quantiles and all of them are of one run.
    let few = "  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%   19.58ms\n 90.000%   23.50ms\n\n";
    let text = format!("{few}{0}\n{few}{0}", spectrum(19.583));
    let rounds: usize = ids(&judged(&[&text], &nothing()), ".rate").iter().map(|(_, rounds)| rounds).sum();
    assert_eq!(rounds, 2);
}

#[test]
fn fios_groups_are_of_different_jobs() {
    let group = |number: usize, rate: f64| {
        format!(
            "Run status group {number} (all jobs):\n   READ: bw={rate:.1}MiB/s ({:.1}MB/s), {rate:.1}MiB/s-{rate:.1}MiB/s, io={:.0}MiB, \
             run=60000-60000msec\n  WRITE: bw={rate:.1}MiB/s ({:.1}MB/s), {rate:.1}MiB/s-{rate:.1}MiB/s, io={:.0}MiB, \
             run=60000-60000msec\n\n",
            rate * 1.048576,
            rate * 60.0,
            rate * 1.048576,
            rate * 60.0
        )
    };
    let text: String = (0..3).map(|number| group(number, 50.0 * 4_f64.powi(number as i32))).collect();
    let record = judged(&[&text], &nothing());
    let all = ids(&record, ".bandwidth");
    assert_eq!(all.len(), 6, "{all:?}");
    assert!(all.iter().all(|(_, rounds)| *rounds == 1), "{all:?}");
    // The same group of jobs on other kernels.
    let text = format!("// Linux 4.4:\n{}// Linux 5.4:\n{}", group(0, 54.5), group(0, 23.5));
    let all = ids(&judged(&[&text], &nothing()), ".bandwidth");
    assert!(all.len() == 4 && all.iter().all(|(_, rounds)| *rounds == 1), "{all:?}");
}

#[test]
fn fortio_sleeps_only_between_calls_at_a_rate() {
    let text = "WARNING 100.00% of sleep were falling behind\nAggregated Function Time : count 3599 avg 0.16680827 +/- 0.006161 min \
                0.156933 max 0.217184 sum 600.342951\n# target 50% 0.170045\nSockets used: 10 (for perfect keepalive, would be 10)\nCode \
                200 : 3599 (100.0 %)\nAll done 3599 calls (plus 10 warmup) 166.808 ms avg, 59.8 qps\n";
    for wrap in ["", "fortio fortio ", "> "] {
        let text: String = text.lines().map(|line| format!("{wrap}{line}\n")).collect();
        let record = judged(&[&text], &nothing());
        let said = detail(&record, "fortio.rate", "rate-met");
        assert!(said.contains("needs --rate") && !said.contains("does not show whether"), "{wrap}: {said}");
    }
}

#[test]
fn jmeters_whole_seconds_are_known_by_its_rate() {
    let text = |samples: f64, seconds: f64| {
        format!(
            "summary = {samples:6} in 00:00:{:02.0} = {:6.1}/s Avg:    12 Min:     8 Max:    36 Err:     0 (0.00%)\n",
            seconds.round(),
            samples / seconds
        )
    };
    for (seconds, verdict) in
        [(0.31, Verdict::Suspect), (0.55, Verdict::Suspect), (1.4, Verdict::Valid), (5.1, Verdict::Valid)]
    {
        let record = judged(&[&text(2000.0, seconds)], &nothing());
        assert_eq!(says(&record, "jmeter.rate").0, Some(verdict), "{seconds}");
    }
    // A time that the rate contradicts stays as it is printed.
    let record = judged(
        &["summary =   2000 in 00:00:05 = 2000.0/s Avg:    12 Min:     8 Max:    36 Err:     0 (0.00%)\n"],
        &nothing(),
    );
    assert_eq!(says(&record, "jmeter.rate").0, Some(Verdict::Invalid));
    let none = "summary =      0 in 00:00:00 = ******/s Avg:     0 Min: 9223372036854775807 Max: -9223372036854775808 Err:     0 (0.00%)\n";
    assert!(refusal(none).contains("took no sample"), "{}", refusal(none));
}

#[test]
fn a_heading_keeps_no_warning_from_google_benchmarks_table() {
    let context = "Run on (8 X 2424 MHz CPU s)\nCPU Caches:\n  L1 Data 64 KiB (x8)\n***WARNING*** CPU scaling is enabled, the benchmark \
                   real time measurements may be noisy and will incur extra overhead.\n";
    let table = "Benchmark | Time | CPU | Iterations\n--- | --- | --- | ---\nCreate a manager | 24 ns | 24 ns | 28843108\n";
    for between in ["", "\n### Benchmarks\n", "\n**Results:**\n"] {
        let record = judged(&[&format!("{context}{between}{table}")], &nothing());
        assert_eq!(says(&record, "google-benchmark.create-a-manager").1, "frequency", "{between}");
    }
}

#[test]
fn reports_of_sysbench_follow_one_another() {
    let report = |events: f64| {
        format!(
            "General statistics:\n    total time:                          10.0008s\n    total number of events:              {events}\n"
        )
    };
    let text: String = [("t3", 32591.0), ("t3a", 26621.0), ("t4g", 113588.0)]
        .map(|(name, events)| format!("### {name}.xlarge\n\n```\n{}```\n\n", report(events)))
        .concat();
    let record = judged(&[&text], &nothing());
    let all = record.figures.iter().filter(|figure| figure.id.contains("sysbench")).count();
    assert_eq!(all, 3, "{:?}", ids(&record, ""));
}

#[test]
fn the_progress_of_old_sysbench_shows_its_threads() {
    for (line, threads) in [
        (
            "[  46s] threads: 32, tps: 13240.49, reads: 132402.38, writes: 0.00, response time: 2.60ms (95%), errors: 0.00",
            32.0,
        ),
        (
            "[ 46s ] thds: 8 tps: 13240.49 qps: 132402.38 (r/w/o: 1/1/1) lat (ms,95%): 2.60 err/s: 0.00 reconn/s: 0.00",
            8.0,
        ),
    ] {
        let text = format!(
            "{line}\nOLTP test statistics:\n    queries performed:\n        read:                            6738020\n    transactions:                        \
             673802 (13211.23 per sec.)\n    read/write requests:                 6738020 (132112.30 per sec.)\n\nGeneral statistics:\n    total time:                          \
             51.0022s\n    total number of events:              673802\n"
        );
        let record = judged(&[&text], &nothing());
        assert_eq!(
            figure(&record, "sysbench-oltp.rate").conditions.get(CONNECTIONS),
            Some(threads),
            "{line}"
        );
    }
}

#[test]
fn remarks_of_the_author_hide_no_report() {
    let report = "Transactions: 550 hits\nAvailability: 55.00 %\nElapsed time: 31.32 secs\nData transferred: 1.15 MB\nResponse time: 3.04 \
                  secs\nTransaction rate: 17.56 trans/sec\nThroughput: 0.04 MB/sec\nConcurrency: 53.44\nSuccessful transactions: \
                  433\nFailed transactions: 450\nLongest transaction: 15.50\nShortest transaction: 0.42\n";
    for remark in
        ["", " //完成550次处理", " // 55.00 of 100", " # 成功率", "  <-- that many", " ← all of 1000"]
    {
        let text: String = report.lines().map(|line| format!("{line}{remark}\n")).collect();
        let record = judged(&[&text], &nothing());
        assert_eq!(
            says(&record, "siege.rate"),
            (Some(Verdict::Invalid), "errors-as-work".to_owned()),
            "{remark}"
        );
    }
}

#[test]
fn short_reports_of_ab_on_two_pages_are_two_figures() {
    let report = |page: &str, rate: f64| {
        format!(
            "```sh\nab -n 2500 -c 10 -l http://192.0.2.1/{page}\n```\n\n```text\nComplete requests:      2500\nFailed requests:        \
             0\nRequests per second:    {rate:.2} [#/sec]\nTime per request:       {:.3} ms\nTotal transferred:      95500 bytes\nHTML \
             transferred:       39250 bytes\n```\n\n",
            1e4 / rate
        )
    };
    let record = judged(&[&format!("{}{}", report("a", 1862.43), report("b", 310.78))], &nothing());
    let all = ids(&record, ".rate");
    assert_eq!(all, [("audit.ab.rate".to_owned(), 1), ("audit.ab-2.rate".to_owned(), 1)]);
}

#[test]
fn a_rate_that_falls_by_the_way_is_no_steady_one() {
    let pgbench = |rates: &[f64]| {
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let progress: String = rates
            .iter()
            .enumerate()
            .map(|(at, rate)| {
                format!("progress: {}.0 s, {rate:.1} tps, lat 10.612 ms stddev 6.671\n", 60 * (at + 1))
            })
            .collect();
        format!(
            "{progress}transaction type: <builtin: TPC-B (sort of)>\nscaling factor: 1\nquery mode: simple\nnumber of clients: 8\nnumber of \
             threads: 1\nduration: {} s\nnumber of transactions actually processed: {:.0}\nlatency average = {:.3} ms\ntps = {mean:.6} \
             (without initial connection time)\n",
            60 * rates.len(),
            60.0 * rates.len() as f64 * mean,
            8e3 / mean
        )
    };
    let oltp = |rates: &[f64]| {
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let seconds = 10.0 * rates.len() as f64;
        let progress: String = rates
            .iter()
            .enumerate()
            .map(|(at, rate)| format!("[ {}s ] thds: 8 tps: {rate:.2} qps: 1.0 err/s: 0.00\n", 10 * (at + 1)))
            .collect();
        format!(
            "Number of threads: 8\n{progress}SQL statistics:\n    queries performed:\n        read:                            6738020\n    \
             transactions:                        {:.0} ({mean:.2} per sec.)\n    queries:                             6738020 (132112.30 per \
             sec.)\n\nGeneral statistics:\n    total time:                          {seconds:.4}s\n",
            mean * seconds
        )
    };
    let falls = [754.0, 746.4, 722.3, 719.9, 714.1, 568.9, 455.1, 449.2, 454.2, 439.3];
    let steady = [754.0, 746.4, 752.3, 749.9, 754.1, 748.9, 755.1, 749.2, 754.2, 749.3];
    let all = |rates: &[f64]| [(pgbench(rates), "pgbench.rate"), (oltp(rates), "sysbench-oltp.rate")];
    for (text, id) in all(&falls) {
        assert_eq!(says(&judged(&[&text], &nothing()), id), (Some(Verdict::Suspect), "trend".to_owned()));
    }
    for (text, id) in all(&steady) {
        let record = judged(&[&text], &nothing());
        assert!(says(&record, id).0 < Some(Verdict::Suspect), "{}", detail(&record, id, "trend"));
    }
    // Too few to tell.
    for (text, id) in all(&falls[..5]) {
        assert!(detail(&judged(&[&text], &nothing()), id, "trend").is_empty());
    }
}

#[test]
fn summaries_of_hey_and_oha_are_read_without_their_first_lines() {
    let rows = |rate: f64, extra: &str| {
        format!(
            "  Total:\t{:.4} secs\n  Slowest:\t0.0107 secs\n  Fastest:\t0.0002 secs\n  Average:\t0.0036 secs\n  \
             Requests/sec:\t{rate:.4}\n{extra}\nStatus code distribution:\n  [200] 20000 responses\n",
            2e4 / rate
        )
    };
    let sizes = "\n  Total data:\t86.90 MiB\n  Size/request:\t111 B\n  Size/sec:\t17.38 MiB\n";
    for (head, extra, tool) in [
        ("Summary:\n", "", "hey"),
        ("", "", "hey"),
        ("### Streaming (/stream)\n", "\n  Total data:\t100 bytes\n  Size/request:\t1 bytes\n", "hey"),
        ("Summary:\n  Success rate:\t1.0000\n", sizes, "oha"),
        ("Success rate:\t100.00%\n", sizes, "oha"),
        ("### Results\n", sizes, "oha"),
    ] {
        let record = judged(&[&format!("{head}{}", rows(5000.0, extra))], &nothing());
        assert_eq!(ids(&record, ".rate"), [(format!("audit.{tool}.rate"), 1)], "{head}");
    }
    let text = format!("### a\n{}### b\n{}", rows(5000.0, ""), rows(700.0, ""));
    let all = ids(&judged(&[&text], &nothing()), ".rate");
    assert_eq!(all, [("audit.hey.rate".to_owned(), 1), ("audit.hey-2.rate".to_owned(), 1)]);
}

#[test]
fn a_log_that_is_not_known_hides_no_tool() {
    let verdicts = |text: &str| -> Vec<(String, Option<Verdict>)> {
        let record = judged(&[text], &nothing());
        record.figures.iter().map(|figure| (figure.id.clone(), figure.verdict)).collect()
    };
    let prefixes = [
        "12:34:56.789 INFO  [main] c.e.Bench - ",
        "null_resource.bench (remote-exec): ",
        "bench-x7k2p wrk ",
        "INFO     root:bench.py:12 ",
        "#12 3.456 ",
        "bench:run: ",
        "node-01: ",
    ];
    // Some lines of these are known behind a prefix, others are not.
    for text in [
        include_str!("data/perf-sound.txt"),
        include_str!("data/pidstat-stress.txt"),
        include_str!("data/sysbench-1k.txt"),
        include_str!("data/tinymembench-80.txt"),
        include_str!("data/hyperfine-528.txt"),
    ] {
        let bare = verdicts(text);
        for prefix in prefixes {
            let logged: String =
                text.lines().map(|line| format!("{prefix}{line}").trim_end().to_owned() + "\n").collect();
            assert_eq!(verdicts(&logged), bare, "{prefix}: {logged}");
        }
    }
}

#[test]
fn what_pages_and_programs_put_around_lines_is_taken_off() {
    let verdicts = |text: &str| -> Vec<(String, Option<Verdict>)> {
        let record = judged(&[text], &nothing());
        record.figures.iter().map(|figure| (figure.id.clone(), figure.verdict)).collect()
    };
    let each = |text: &str, wrap: &dyn Fn(&str) -> String| -> String {
        text.lines().map(|line| wrap(line) + "\n").collect()
    };
    let escaped = |text: &str, quote: char| -> String {
        let text = text.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"));
        text.replace('\t', "\\t").replace('\n', "\\n")
    };
    for text in [
        include_str!("data/hey-227.txt"),
        include_str!("data/ab-26.txt"),
        include_str!("data/mlc-129.txt"),
        include_str!("data/siege-267.txt"),
    ] {
        let bare = verdicts(text);
        let marked = |mark: &'static str| {
            each(text, &move |line| {
                if line.trim().is_empty() { String::new() } else { format!("{mark}{line}{mark}") }
            })
        };
        let mut at = 0;
        let numbered = text.lines().flat_map(|line| {
            at += 1;
            [at.to_string(), line.to_owned()]
        });
        let numbered: Vec<String> = numbered.collect();
        for wrapped in [
            format!("b'{}'\n", escaped(text, '\'')),
            format!("stdout: \"{}\"\n", escaped(text, '"')),
            format!("{:?}\n", text.lines().collect::<Vec<_>>()),
            numbered.join("\n"),
            each(text, &|line| format!("<div class=\"line\">{line}</div>")),
            each(text, &|line| format!("<span class='line'>{line}</span>")),
            format!("<pre><code class=\"language-bash\">{text}</code></pre>\n"),
            each(text, &|line| line.replace('[', "\\[").replace(']', "\\]").replace('_', "\\_")),
            each(text, &|line| format!("\u{3000}{line}")),
            each(text, &|line| format!("{line},")),
            each(text, &|line| format!("{line} \\\\")),
            marked("**"),
            marked("`"),
        ] {
            assert_eq!(verdicts(&wrapped), bare, "{wrapped}");
        }
    }
}

#[test]
fn what_failed_is_told_in_words() {
    let text = "Transactions:\t\t       17433 hits\nAvailability:\t\t       54.99 %\nElapsed time:\t\t       31.32 secs\nTransaction rate:\t      556.61 \
                trans/sec\nConcurrency:\t\t       53.44\nSuccessful transactions:       17433\nFailed transactions:\t       14268\n";
    let said = detail(&judged(&[text], &nothing()), "siege.rate", "errors-as-work");
    assert!(said.contains("14268 closed before the answer"), "{said}");
}

#[test]
fn a_report_of_sockperf_is_one_run() {
    let text = "sockperf: Starting test...\nsockperf: Test end (interrupted by timer)\nsockperf: Test ended\nsockperf: [Total Run] \
                RunTime=10.450 sec; SentMessages=300; ReceivedMessages=300\nsockperf: [Valid Duration] RunTime=10.000 sec; \
                SentMessages=290; ReceivedMessages=290\nsockperf: Summary: Latency is 121.880 usec\nsockperf: Total 290 observations; each \
                percentile contains 2.90 observations\nsockperf: ---> percentile 50.000 =  121.880\n";
    for figure in &judged(&[text], &nothing()).figures {
        let unjudged = figure.evidence.get(UNJUDGED).into_value().unwrap_or_default();
        assert!(!unjudged.contains("line "), "{unjudged}");
    }
}

#[test]
fn the_last_lines_of_autocannon_are_a_report() {
    for (total, errors, verdict) in [
        ("8k requests in 10.07s, 964 kB read", "674 errors (7 timeouts)", Some(Verdict::Invalid)),
        ("900 requests in 10.01s, 1.2 MB read", "90 errors (0 timeouts)", Some(Verdict::Invalid)),
    ] {
        for head in ["", "```js\n[...]\n", "It is slow:\n\n> "] {
            let record = judged(&[&format!("{head}{total}\n{errors}\n")], &nothing());
            assert_eq!(says(&record, "autocannon.rate"), (verdict, "errors-as-work".to_owned()), "{head}");
        }
    }
    let two = "8k requests in 10.07s, 964 kB read\n\n9k requests in 10.02s, 1.1 MB read\n";
    let rounds: usize = ids(&judged(&[two], &nothing()), ".rate").iter().map(|(_, rounds)| rounds).sum();
    assert_eq!(rounds, 2);
}

#[test]
fn rows_of_strace_are_known_without_their_head() {
    let rows = " 56.34    6.733919          15    445359           madvise\n  5.32    0.635895           5    125571       218 lseek\n";
    let total = "------ ----------- ----------- --------- --------- ----------------\n100.00   11.952000                618000       218 total\n";
    for text in
        [rows.to_owned(), format!("It spends its time in:\n\n{rows}\n{total}"), format!("...\n{rows}")]
    {
        let record = judged(&[&text], &nothing());
        assert_eq!(value(&record, "strace.calls.madvise"), 445359.0, "{text}");
        assert_eq!(value(&record, "strace.calls.lseek"), 125571.0, "{text}");
        let unjudged = figure(&record, "strace.calls").evidence.get(UNJUDGED).into_value();
        assert!(unjudged.is_some_and(|own| own.contains("rows are missing")), "{text}");
    }
    // The mean is no mean of so many calls.
    assert!(
        refusal(" 56.34    6.733919          90    445359           madvise\n").contains("no known tool")
    );
}
