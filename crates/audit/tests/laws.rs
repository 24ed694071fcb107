//! What must hold of every report, whichever tool printed it: connections that are opened, units, order, bounds, counts over times.

use figure::evidence::audit::{ADDED_SAMPLES, DEPTH};
use figure::evidence::http::CONNECTIONS;
use figure::{Outcome, Record, Verdict};

use crate::published::{self, judged, nothing};

/// wrk's report: threads, connections, mean, quantiles, requests, time, rate.
fn wrk(threads: u32, connections: u32, mean: &str, quantiles: &str, totals: &str, rate: &str) -> String {
    format!(
        "Running 10s test @ http://127.0.0.1:8080\n  {threads} threads and {connections} connections\n  Thread Stats   Avg      \
         Stdev     Max   +/- Stdev\n    Latency   {mean}    0.10ms  53.00ms   77.78%\n    Req/Sec     5.06k   326.95     \
         5.77k    67.75%\n{quantiles}  {totals}, 285.57MB read\nRequests/sec: {rate}\nTransfer/sec:     14.21MB\n"
    )
}

fn says(record: &Record, id: &str) -> (Option<Verdict>, String) {
    published::says(record, id.trim_start_matches("audit."))
}

#[test]
fn wrk_opens_as_many_connections_on_each_thread() {
    for (threads, asked, opened) in
        [(20, 50, 40.0), (12, 30, 24.0), (8, 100, 96.0), (3, 10, 9.0), (4, 100, 100.0), (7, 7, 7.0)]
    {
        // As many as are opened are under way, each for 1 ms.
        let rate = opened * 1000.0;
        let text = wrk(
            threads,
            asked,
            "1.00ms",
            "",
            &format!("{} requests in 10.00s", rate * 10.0),
            &format!("{rate:.2}"),
        );
        for text in [
            text.clone(),
            format!("wrk2 -t{threads} -c{asked} -d10s -R {rate} http://127.0.0.1:8080\n{text}"),
        ] {
            let record = judged(&[&text], &nothing());
            let rate = record.figures.iter().find(|figure| figure.id.ends_with(".rate")).unwrap();
            assert_eq!(rate.conditions.get(CONNECTIONS), Some(opened), "{threads} {asked}");
            let is_open = rate.id.contains("wrk2");
            let expected = if is_open { Verdict::Unverified } else { Verdict::Valid };
            assert_eq!(rate.verdict, Some(expected), "{threads} {asked}: {:#?}", rate.checks);
        }
    }
}

#[test]
fn a_pipeline_has_more_requests_in_flight() {
    // 32 connections, 16 deep: 512 in flight, each batch for 2 ms.
    let deep = wrk(8, 32, "2.00ms", "", "2560000 requests in 10.00s", "256000.00");
    for command in [
        "wrk -t8 -c32 -s pipeline.lua http://127.0.0.1:8080 -- 16",
        "$ wrk --script ./pipelined_get.lua -t 8 -c 32 --latency http://127.0.0.1:8080 -- 16",
        "wrk -t8 -c32 -s bench.lua http://127.0.0.1:8080 -- /plaintext 16",
    ] {
        let record = judged(&[&format!("{command}\n{deep}")], &nothing());
        assert_eq!(record.figures[0].conditions.get(DEPTH), Some(16.0), "{command}");
        for id in ["audit.wrk.rate", "audit.wrk.mean"] {
            assert_eq!(says(&record, id), (Some(Verdict::Valid), String::new()), "{command}");
        }
    }
    // An unstated depth is not judged.
    for command in [
        "wrk -t8 -c32 -s pipeline.lua http://127.0.0.1:8080 -- $depth",
        "wrk -t8 -c32 -s pipeline.lua http://x",
    ] {
        let record = judged(&[&format!("{command}\n{deep}")], &nothing());
        assert_eq!(
            says(&record, "audit.wrk.mean"),
            (Some(Verdict::Unverified), "littles-law".to_owned()),
            "{command}"
        );
    }
    // More than the depth is beyond it, and half of the depth is not all.
    for (text, verdict) in [
        (deep.replace("2.00ms", "4.00ms"), Verdict::Invalid),
        (deep.replace("2.00ms", "1.00ms"), Verdict::Invalid),
    ] {
        let record = judged(&[&format!("wrk -t8 -c32 -s pipeline.lua http://x -- 16\n{text}")], &nothing());
        assert_eq!(says(&record, "audit.wrk.mean"), (Some(verdict), "littles-law".to_owned()));
    }
    // An argument of another script changes nothing where the connections explain all.
    let flat = wrk(8, 32, "2.00ms", "", "160000 requests in 10.00s", "16000.00");
    let record = judged(&[&format!("wrk -t8 -c32 -s post.lua http://x -- 16\n{flat}")], &nothing());
    assert_eq!(record.figures[0].conditions.get(DEPTH), None);
    assert_eq!(says(&record, "audit.wrk.mean").0, Some(Verdict::Valid));
    // Without a sign of it, it is a possible cause of a whole factor, and only of one.
    let pipelined = |text: &str| {
        let record = judged(&[text], &nothing());
        assert_eq!(says(&record, "audit.wrk.mean"), (Some(Verdict::Invalid), "littles-law".to_owned()));
        let checks = &record.figure("audit.wrk.mean").unwrap().checks;
        checks.iter().find(|check| check.id == "littles-law").unwrap().values["pipelined"].clone()
    };
    assert!(pipelined(&deep).is_number());
    assert!(pipelined(&deep.replace("2.00ms", "0.28ms")).is_null(), "2.24 times");
}

#[test]
fn samples_that_wrk_adds_are_named() {
    let text = wrk(
        4,
        40,
        "1.00ms",
        "  Latency Distribution\n     50%    1.00ms\n     90%    1.20ms\n     99%    2.00ms\n",
        "400000 requests in 10.00s",
        "40000.00",
    );
    let record = judged(&[&text], &nothing());
    for id in ["audit.wrk.p90", "audit.wrk.p99"] {
        let figure = record.figure(id).unwrap();
        assert_eq!(figure.evidence.get(ADDED_SAMPLES).into_value(), Some(true));
        let check = figure.checks.iter().find(|check| check.id == "coordinated-omission").unwrap();
        assert_eq!(check.case, "samples-added", "{}", check.detail);
    }
    // The first wrk added none.
    let old = text.replace("Running 10s test @", "Making 400000 requests to");
    let record = judged(&[&old], &nothing());
    assert!(record.figures.iter().all(|figure| figure.evidence.get(ADDED_SAMPLES).into_value().is_none()));
}

#[test]
fn quantiles_rise_and_lie_within_the_extremes() {
    let of = |quantiles: &[(&str, &str)]| {
        let lines: String =
            quantiles.iter().map(|(name, time)| format!("     {name}%    {time}\n")).collect();
        judged(&[&wrk(4, 40, "1.00ms", &lines, "400000 requests in 10.00s", "40000.00")], &nothing())
    };
    let invalid = (Some(Verdict::Invalid), "inconsistent-totals".to_owned());
    let falls = of(&[("50", "1.00ms"), ("75", "40.34ms"), ("90", "0.00us"), ("99", "0.00us")]);
    for id in ["p50", "p90", "p99"] {
        assert_eq!(says(&falls, &format!("audit.wrk.{id}")), invalid, "{id}");
    }
    assert_eq!(says(&falls, "audit.wrk.mean").0, Some(Verdict::Valid));
    assert_eq!(
        says(&of(&[("50", "1.00ms"), ("99", "60.00ms")]), "audit.wrk.p99"),
        invalid,
        "above the largest"
    );
    // 999.60us and 1.00ms are the same to their digits.
    let same = of(&[("50", "1.00ms"), ("90", "999.60us"), ("99", "53.01ms")]);
    assert_eq!(says(&same, "audit.wrk.p50").0, Some(Verdict::Valid));
    assert_eq!(says(&same, "audit.wrk.p99").1, "coordinated-omission");
}

#[test]
fn a_mean_lies_within_the_extremes_in_every_report() {
    let hey = |fastest: &str, mean: &str, slowest: &str| {
        format!(
            "hey -c 100 http://x\nSummary:\n  Total:\t3.017 secs\n  Slowest:\t{slowest} secs\n  Fastest:\t{fastest} secs\n  \
             Average:\t{mean} secs\n  Requests/sec:\t3387.673\n\nStatus code distribution:\n  [200]\t10221 responses\n"
        )
    };
    let oha = |fastest: &str, mean: &str, slowest: &str| {
        hey(fastest, mean, slowest)
            .replace("hey", "oha")
            .replace("Summary:\n", "Summary:\n  Success rate:\t100.00%\n")
    };
    let ab = |fastest: &str, mean: &str, slowest: &str| {
        let ms = |text: &str| text.parse::<f64>().unwrap() * 1e3;
        format!(
            "Concurrency Level:      100\nTime taken for tests:   3.017 seconds\nComplete requests:      10221\n\
             Failed requests:        0\nRequests per second:    3387.80 [#/sec] (mean)\n\nConnection Times (ms)\n              \
             min  mean[+/-sd] median   max\nTotal:        {:.0}   {:.0}   0.0     30     {:.0}\n",
            ms(fastest),
            ms(mean),
            ms(slowest)
        )
    };
    type Text<'a> = &'a dyn Fn(&str, &str, &str) -> String;
    let all: [(&str, Text); 3] = [("hey", &hey), ("oha", &oha), ("ab", &ab)];
    for (tool, report) in all {
        let mean = |fastest: &str, mean: &str, slowest: &str| {
            let record = judged(&[&report(fastest, mean, slowest)], &nothing());
            says(&record, &format!("audit.{tool}.mean"))
        };
        let invalid = (Some(Verdict::Invalid), "inconsistent-totals".to_owned());
        assert_eq!(mean("0.007", "0.029", "0.168").0, Some(Verdict::Valid), "{tool}");
        assert_eq!(mean("0.029", "0.029", "0.029").0, Some(Verdict::Valid), "{tool}");
        assert_eq!(mean("0.035", "0.029", "0.168"), invalid, "{tool}");
        assert_eq!(mean("0.007", "0.029", "0.020"), invalid, "{tool}");
    }
    let stream = |best: &str, mean: &str, worst: &str| {
        let rate = 1600.0 / best.parse::<f64>().unwrap();
        let text = format!(
            "Function    Best Rate MB/s  Avg time     Min time     Max time\nCopy:  {rate:.1}  {mean}  {best}  {worst}\n"
        );
        says(&judged(&[&text], &nothing()), "audit.stream.copy")
    };
    assert_ne!(stream("0.0267", "0.0270", "0.0280").1, "inconsistent-totals");
    assert_eq!(
        stream("0.0267", "0.0290", "0.0280"),
        (Some(Verdict::Invalid), "inconsistent-totals".to_owned())
    );
}

#[test]
fn a_count_over_its_time_is_the_rate_to_its_digits() {
    let of = |asked: &str, totals: &str, rate: &str| {
        let text = wrk(4, 40, "1.00ms", "", totals, rate).replace("Running 10s", &format!("Running {asked}"));
        says(&judged(&[&text], &nothing()), "audit.wrk.rate")
    };
    for (asked, totals, rate) in [
        ("10s", "400000 requests in 10.00s", "40000.00"),
        // 200 s, as wrk writes them.
        ("3m", "8000000 requests in 3.33m", "40000.00"),
        ("3m", "8000000 requests in 3m", "40000.00"),
        ("2m", "3600000 requests in 1.50m", "40000.00"),
        ("1h", "144000000 requests in 1.00h", "40000.00"),
    ] {
        assert_eq!(of(asked, totals, rate), (Some(Verdict::Valid), String::new()), "{totals}");
    }
    for (asked, totals, rate) in
        [("10s", "400000 requests in 10.00s", "48000.00"), ("3m", "8000000 requests in 3.33m", "60000.00")]
    {
        assert_eq!(
            of(asked, totals, rate),
            (Some(Verdict::Invalid), "inconsistent-totals".to_owned()),
            "{totals}"
        );
    }
    // Stopped before its time, and over it.
    assert_eq!(of("10m", "8000000 requests in 3.33m", "40000.00"), (Some(Verdict::Valid), String::new()));
    assert_eq!(
        of("1m", "8000000 requests in 3.33m", "40000.00"),
        (Some(Verdict::Invalid), "too-short".to_owned())
    );
}

/// `perf stat` with its clock in one of the ways that versions write it: 5.833 s of CPU time in 6.453 s.
fn perf(clock: &str) -> String {
    format!(
        " Performance counter stats for './a.out':\n\n{clock}\n              7046      page-faults      #    1.208 K/sec\n       \
         24199969892      cycles      #    4.149 GHz\n\n       6.452690211 seconds time elapsed\n\n       5.150092000 seconds \
         user\n       0.682432000 seconds sys\n"
    )
}

#[test]
fn a_clock_of_perf_stat_is_read_in_its_unit() {
    for clock in [
        "        5833261700      task-clock:u      #    0.904 CPUs utilized",
        "        5833261700      task-clock",
        "     5,833,261,700      cpu-clock      #    0.904 CPUs utilized",
        "        5833261700 ns   task-clock      #    0.904 CPUs utilized",
        "           5833.26 msec task-clock      #    0.904 CPUs utilized",
        "       5833.261700      task-clock (msec)      #    0.904 CPUs utilized",
        "       5833.261700      task-clock:u (msec)",
        "       5833.261700      task-clock      #    0.904 CPUs utilized",
        "          5,833.26      cpu-clock      #    0.904 CPUs utilized",
    ] {
        let record = judged(&[&perf(clock)], &nothing());
        for figure in &record.figures {
            assert_eq!(figure.verdict, Some(Verdict::Valid), "{clock}: {}: {:#?}", figure.id, figure.checks);
        }
        let time = record.figure("audit.perf-stat.cpu-time").and_then(|figure| figure.value).unwrap();
        assert!((time - 5.833).abs() < 0.001, "{clock}: {time}");
    }
    // Many CPUs, and a rate that is of something else.
    let many = perf("     412971200000      cpu-clock      #   64.000 CPUs utilized");
    let record = judged(&[&many], &nothing());
    let cpus = record.figures.iter().find(|figure| figure.id.ends_with("cpu-clock")).unwrap();
    assert_eq!(cpus.verdict, Some(Verdict::Valid), "{:#?}", cpus.checks);
    let wrong =
        judged(&[&perf("           5833.26 msec task-clock      #    9.040 CPUs utilized")], &nothing());
    assert_eq!(
        says(&wrong, "audit.perf-stat.task-clock"),
        (Some(Verdict::Invalid), "inconsistent-totals".to_owned())
    );
    for (line, seconds) in [
        ("5833261700,,task-clock,5833261700,100.00,,\n7046,,faults,5833261700,100.00,1.208,K/sec\n", 5.833),
        ("5833.261700,,task-clock,5833261700,100.00,,\n7046,,faults,5833261700,100.00,1.208,K/sec\n", 5.833),
        (
            "5833.26,msec,task-clock,5833261700,100.00,0.904,CPUs utilized\n7046,,faults,5833261700,100.00,1.208,K/sec\n",
            5.833,
        ),
    ] {
        let record = judged(&[line], &nothing());
        let clock = record.figures.iter().find(|figure| figure.id.ends_with("task-clock")).unwrap();
        assert!((clock.value.unwrap() / 1e3 - seconds).abs() < 0.001, "{line}: {:?}", clock.value);
        let faults = record.figure("audit.perf-stat.faults").unwrap();
        assert_eq!(faults.verdict, Some(Verdict::Valid), "{line}: {:#?}", faults.checks);
    }
}

/// UnixBench's section, with the seconds of Dhrystone, Whetstone and shell8.
fn unixbench(cpus: &str, dhrystone: f64, whetstone: f64, shell: f64) -> String {
    format!(
        "{cpus} in system; running 1 parallel copy of tests\n\n\
         Dhrystone 2 using register variables        7379217.5 lps   ({dhrystone:.1} s, 7 samples)\n\
         Double-Precision Whetstone                      864.0 MWIPS ({whetstone:.1} s, 7 samples)\n\
         Pipe Throughput                              123147.2 lps   (10.0 s, 7 samples)\n\
         Pipe-based Context Switching                  13587.6 lps   (10.1 s, 7 samples)\n\
         Shell Scripts (8 concurrent)                     68.2 lpm   ({shell:.1} s, 2 samples)\n\n\
         System Benchmarks Index Values               BASELINE       RESULT    INDEX\n\
         Dhrystone 2 using register variables         116700.0    7379217.5    632.3\n\
         Double-Precision Whetstone                       55.0        864.0    157.1\n\
         Pipe Throughput                               12440.0     123147.2     99.0\n\
         Pipe-based Context Switching                   4000.0      13587.6     34.0\n\
         Shell Scripts (8 concurrent)                      6.0         68.2    113.7\n"
    )
}

#[test]
fn one_cpu_is_a_placement_and_a_test_has_its_time() {
    let verdicts = |text: &str| -> Vec<(String, Option<Verdict>, String)> {
        let record = judged(&[text], &nothing());
        let of = |figure: &figure::Figure| {
            let (verdict, reason) = says(&record, &figure.id);
            (figure.id.clone(), verdict, reason)
        };
        record.figures.iter().map(of).collect()
    };
    let suspects = |text: &str| {
        let all = verdicts(text).into_iter().filter(|(_, verdict, _)| *verdict == Some(Verdict::Suspect));
        all.map(|(id, _, reason)| (id.split('.').nth(2).unwrap().to_owned(), reason)).collect::<Vec<_>>()
    };
    for cpus in ["1 CPU", "1 CPUs"] {
        assert_eq!(suspects(&unixbench(cpus, 10.0, 9.9, 60.5)), [], "{cpus}");
    }
    let switching = [("context1".to_owned(), "placement-unknown".to_owned())];
    assert_eq!(suspects(&unixbench("4 CPUs", 10.0, 12.4, 60.5)), switching, "Whetstone aims at its time");
    assert_eq!(suspects(&format!("$ taskset -c 0 ./Run -c 1\n{}", unixbench("4 CPUs", 10.0, 9.9, 60.5))), []);
    // A CPU that is withheld is so from all tests.
    for text in [unixbench("1 CPU", 10.1, 20.7, 61.6), unixbench("1 CPU", 16.0, 9.9, 60.1)] {
        assert_eq!(suspects(&text).len(), 5);
        assert!(suspects(&text).iter().all(|(_, reason)| reason == "too-short"));
    }
    // One test that a little was withheld from.
    assert_eq!(
        suspects(&unixbench("1 CPU", 10.8, 9.9, 60.1)),
        [("dhry2reg".to_owned(), "too-short".to_owned())]
    );
    // The table has the results once more.
    let other = unixbench("1 CPU", 10.0, 9.9, 60.1).replace("12440.0     123147.2", "12440.0     133147.2");
    assert!(verdicts(&other).iter().any(|(id, verdict, reason)| {
        id.contains(".pipe.") && *verdict == Some(Verdict::Invalid) && reason == "inconsistent-totals"
    }));
}

#[test]
fn outcomes_of_the_law_name_what_contradicts() {
    let text = wrk(
        4,
        40,
        "1.00ms",
        "     50%    2.00ms\n     90%    1.00ms\n",
        "400000 requests in 10.00s",
        "40000.00",
    );
    let record = judged(&[&text], &nothing());
    let check = record
        .figure("audit.wrk.p50")
        .unwrap()
        .checks
        .iter()
        .find(|check| check.id == "inconsistent-totals")
        .unwrap();
    assert_eq!(check.outcome, Outcome::Fail);
    let reason = check.values["reason"].as_str().unwrap();
    assert!(check.case == "contradiction" && reason.contains("p50") && reason.contains("p90"), "{reason}");
}
