//! Tables of other tools with the same words, and parts of a report.

use audit::{Known, Source};
use figure::evidence::audit::UNJUDGED;
use figure::{Reading, Verdict};

use crate::published::{judged, nothing, says};

fn refused(text: &str) -> String {
    audit::figures(&[Source::of("text", text)], &Known::default()).unwrap_err().to_string()
}

#[test]
fn rows_of_more_numbers_are_not_those_of_stream() {
    let head = "Number of Iterations is 6\nFunction    Best Rate MB/s\n";
    let rows = |numbers: &str| {
        ["Copy", "Scale", "Add", "Triad"]
            .iter()
            .map(|kernel| format!("{kernel}:  {numbers}\n"))
            .collect::<String>()
    };
    let why = refused(&format!("{head}{}", rows("277    272    265    117    115    120")));
    assert!(why.contains("STREAM, but has rows of 6 numbers"), "{why}");
    let record =
        judged(&[&format!("{head}{}", rows("18514.5     0.242368     0.231979     0.317779"))], &nothing());
    assert_eq!(record.figures.len(), 4);
    assert!(record.figures.iter().all(|figure| figure.verdict == Some(Verdict::Unverified)));
}

#[test]
fn times_in_a_row_are_no_row_of_google_benchmark() {
    for row in [
        "| 21.8.2024 | Latency | 374 ms | 1972 ms | 2966 ms | 3360 ms | 1778.5 ms | 739.71 ms | 3494 ms |",
        "Latency 374 ms 1972 ms 2966 ms 3360 ms 1778.5 ms",
        "| Latency | 374 ms | 1972 ms | 2966 ms |",
        "p50 12 us p90 14 us p99 20 us",
    ] {
        let why = refused(&format!("{row}\n"));
        assert!(why.contains("no known tool"), "{row}: {why}");
    }
    for row in [
        "BM_Copy/8    101 ns    100 ns    7000000",
        "BM_Copy/8    101 ns    100 ns    7000000 bytes_per_second=1G/s",
        "| BM_Copy/8 | 101 ns | 100 ns | 7000000 |",
        "BM_Copy/8    101 ns    100 ns    7000000 a label",
    ] {
        assert_eq!(judged(&[&format!("{row}\n")], &nothing()).figures.len(), 1, "{row}");
    }
}

#[test]
fn times_of_a_command_stand_without_its_faults() {
    let head = "        User time (seconds): 3.20\n        System time (seconds): 72.28\n        Percent of CPU this job got: 183%\n        \
                Elapsed (wall clock) time (h:mm:ss or m:ss): 0:41.09\n        Maximum resident set size (kbytes): 10624\n";
    let record = judged(&[head], &nothing());
    let ids: Vec<&str> =
        record.figures.iter().map(|figure| figure.id.trim_start_matches("audit.time.")).collect();
    assert_eq!(ids, ["cpus", "elapsed"]);
    assert_eq!(says(&record, "time.elapsed"), (Some(Verdict::Valid), String::new()));
    // Nothing that has digits enough is left.
    let why = refused("User time (seconds): 0.00\nSystem time (seconds): 0.00\n");
    assert!(why.contains("has neither page faults nor times"), "{why}");
}

#[test]
fn peak_bandwidths_by_either_heading_are_judged() {
    let text = |heading: &str| {
        format!(
            "Intel(R) Memory Latency Checker - v3.1a\n{heading} for the system\nBandwidths are in MB/sec (1 MB/sec = 1,000,000 \
             Bytes/sec)\nUsing all the threads from each core if Hyper-threading is enabled\nUsing traffic with the following read-write \
             ratios\nALL Reads        :\t122130.1\t\n3:1 Reads-Writes :\t112893.9\t\n2:1 Reads-Writes :\t110465.2\t\n1:1 Reads-Writes \
             :\t99124.2\t\nStream-triad like:\t109274.7\t\n"
        )
    };
    for heading in ["Measuring Peak Memory Bandwidths", "Measuring Peak Injection Memory Bandwidths"] {
        let record = judged(&[&text(heading)], &nothing());
        assert_eq!(record.figures.len(), 5, "{heading}");
        let unjudged = record.figures[0].evidence.get(UNJUDGED);
        assert!(!matches!(&unjudged, Reading::Value(what) if what.contains("Peak")), "{unjudged:?}");
    }
}

#[test]
fn comments_of_html_are_taken_off() {
    let wrk = "<!-- Running 10s test @ http://127.0.0.1:8080\n  2 threads and 64 connections\n  Thread Stats   Avg      Stdev     Max   \
               +/- Stdev\n    Latency   1.00ms    0.10ms  53.00ms   77.78%\n    Req/Sec     32.06k   326.95     35.77k    67.75%\n  640000 \
               requests in 10.00s, 285.57MB read\nRequests/sec: 64000.00\nTransfer/sec:     14.21MB\n-->\n";
    assert_eq!(says(&judged(&[wrk], &nothing()), "wrk.rate"), (Some(Verdict::Valid), String::new()));
}

#[test]
fn one_iteration_of_k6_is_too_short() {
    let k6 = |count: u32, rate: f64, seconds: &str| {
        format!(
            "  scenarios: (100.00%) 1 scenario, 1 max VUs, 10m30s max duration (incl. graceful stop):\n           * default: {count} iterations \
             for each of 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)\n\n\nrunning ({seconds}), 0/1 VUs, {count} complete and 0 \
             interrupted iterations\ndefault ✓ [ 100% ] 1 VUs  {seconds}/10m0s  {count}/{count} iters, 1 per VU\n\n     \
             http_req_duration..............: min=16.00ms avg=16.00ms med=16.00ms p(99)=16.00ms p(99.9)=16.00ms max=16.00ms count={count}\n     \
             http_req_failed................: 0.00%  ✓ 0         ✗ {count}\n     http_reqs......................: {count}      \
             {rate}/s\n     iteration_duration.............: min=24.69ms avg=24.69ms med=24.69ms p(99)=24.69ms p(99.9)=24.69ms max=24.69ms \
             count={count}\n     iterations.....................: {count}      {rate}/s\n"
        )
    };
    assert_eq!(says(&judged(&[&k6(1, 37.35, "00m00.0s")], &nothing()), "k6.rate").1, "too-short");
    assert_eq!(says(&judged(&[&k6(400, 40.0, "00m10.0s")], &nothing()), "k6.rate").1, "");
}

#[test]
fn signs_that_were_read_in_the_wrong_encoding_are_mended() {
    for sign in ["±", "Â±", "�"] {
        let jmh = format!(
            "Benchmark                      Mode  Cnt      Score       Error  Units\nComparison.oVectorGet          avgt   10    123.456 {sign}     \
             4.567  ns/op\n"
        );
        assert_eq!(judged(&[&jmh], &nothing()).figures.len(), 1, "{sign}");
    }
    let hyperfine = "Benchmark 1: x\n  Time (mean Â± Ïƒ):     410.3 ms Â±  19.9 ms    [User: 173.7 ms, System: 1314.5 ms]\n  Range (min â€¦ \
                     max):   389.7 ms â€¦ 452.1 ms    10 runs\n";
    assert_eq!(judged(&[hyperfine], &nothing()).figures.len(), 1);
    let k6 = |micro: &str| {
        format!(
            "     http_req_duration..............: avg=838.38{micro}s min=285.29{micro}s med=688.01{micro}s max=53.83ms p(90)=1.32ms \
             p(95)=1.68ms\n     http_reqs......................: 114839 11483.188312/s\n"
        )
    };
    let mean = |micro: &str| judged(&[&k6(micro)], &nothing()).figure("audit.k6.mean").unwrap().value;
    assert_eq!(mean("Âµ"), mean("µ"));
}

#[test]
fn numbers_in_bold_letters_are_numbers() {
    let wrk = |requests: &str, timeouts: &str| {
        format!(
            "Running 30s test @ http://domain.local/test.php\n  12 threads and 96 connections\n  Thread Stats   Avg      Stdev     Max   +/- \
             Stdev\n    Latency     1.00s     0.75s    1.54s    80.39%\n    Req/Sec     8.02      3.58    30.00     91.95%\n  {requests} \
             requests in 30.00s, 61.57KB read\n  Socket errors: connect 0, read 0, write 0, timeout {timeouts}\nRequests/sec:     \
             96.00\nTransfer/sec:      2.05KB\n"
        )
    };
    for (requests, timeouts) in [("2880", "410"), ("**2880**", "**410**"), ("2880", "**410**")] {
        let record = judged(&[&wrk(requests, timeouts)], &nothing());
        assert_eq!(
            says(&record, "wrk.mean"),
            (Some(Verdict::Invalid), "timeouts-excluded".to_owned()),
            "{requests} {timeouts}"
        );
    }
}
