//! What the start and the end of a load take from it, and what was under way when it was broken off.

use figure::Verdict;

use crate::published::{judged, nothing, says};

/// wrk's report of so many requests in so many seconds, `mean` seconds each.
fn wrk(connections: u32, mean: f64, requests: f64, asked: &str, seconds: f64, each: f64) -> String {
    format!(
        "Running {asked} test @ http://127.0.0.1:8080\n  2 threads and {connections} connections\n  Thread Stats   Avg      Stdev     \
         Max   +/- Stdev\n    Latency   {mean:.2}s    0.10s  9.00s   77.78%\n    Req/Sec     {each:.2}   1.95     5.77    \
         67.75%\n  {requests} requests in {seconds:.2}s, 285.57MB read\nRequests/sec: {:.2}\nTransfer/sec:     14.21MB\n",
        requests / seconds
    )
}

#[test]
fn requests_under_way_at_the_end_are_no_idle_connections() {
    // 100 connections have time for `turns` requests each of 4 s, and for a part of another.
    for (turns, verdict, why) in
        [(2.0, "Suspect", "too-short"), (5.0, "Suspect", "too-short"), (40.0, "Valid", "")]
    {
        let seconds = 4.0 * (turns + 0.6);
        let text = wrk(100, 4.0, 100.0 * turns, &format!("{seconds:.0}s"), seconds, 2.0);
        let record = judged(&[&text], &nothing());
        let (own, first) = says(&record, "wrk.rate");
        assert_eq!((format!("{:?}", own.unwrap()), first.as_str()), (verdict.to_owned(), why), "{turns}");
    }
    // In a long run half of the connections that are idle have another reason.
    let record = judged(&[&wrk(100, 1.0, 1500.0, "30s", 30.0, 25.0)], &nothing());
    assert_eq!(says(&record, "wrk.rate"), (Some(Verdict::Invalid), "littles-law".to_owned()));
}

#[test]
fn a_run_that_was_broken_off_is_shorter_and_no_worse() {
    let broken_off = wrk(100, 0.05, 6000.0, "10s", 3.0, 1000.0);
    assert_eq!(says(&judged(&[&broken_off], &nothing()), "wrk.rate"), (Some(Verdict::Valid), String::new()));
    // What its threads counted is far less: the time is wrong.
    let wrong = wrk(100, 0.05, 20000.0, "10s", 0.01, 1000.0);
    assert_eq!(says(&judged(&[&wrong], &nothing()), "wrk.rate").0, Some(Verdict::Invalid));
}

#[test]
fn few_requests_of_a_fixed_number_end_one_by_one() {
    // hey -n 200 -c 50: four requests on each connection in 2 s; the last one is late.
    let hey = |total: f64, mean: f64| {
        format!(
            "$ hey -n 200 -c 50 http://127.0.0.1:8080/\n\nSummary:\n  Total:\t{total:.4} secs\n  Slowest:\t1.2000 secs\n  Fastest:\t0.2000 \
             secs\n  Average:\t{mean:.4} secs\n  Requests/sec:\t{:.4}\n\nResponse time histogram:\n  0.200 [200]\t|■\n\nLatency \
             distribution:\n  50% in 0.3500 secs\n\nStatus code distribution:\n  [200]\t200 responses\n",
            200.0 / total
        )
    };
    let record = judged(&[&hey(2.0, 0.43)], &nothing());
    assert_eq!(says(&record, "hey.rate"), (Some(Verdict::Suspect), "too-short".to_owned()));
    // Were they busy all the time, nothing speaks against it.
    let record = judged(&[&hey(2.0, 0.495)], &nothing());
    assert_eq!(says(&record, "hey.rate"), (Some(Verdict::Valid), String::new()));
    let record = judged(&[&hey(2.0, 0.10)], &nothing());
    assert_eq!(says(&record, "hey.rate"), (Some(Verdict::Invalid), "littles-law".to_owned()));
}

#[test]
fn errors_come_before_timeouts_where_both_are_many() {
    let wrk = "Running 3m test @ http://x/\n  10 threads and 200 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
               Latency   128.72ms  153.10ms   1.99s    90.88%\n    Req/Sec    63.40     40.20   200.00     59.95%\n  Latency \
               Distribution\n     50%   86.68ms\n     90%  251.59ms\n     99%  802.96ms\n  53795 requests in 3.00m, 67.66MB read\n  \
               Socket errors: connect 0, read 1, write 0, timeout 1216\n  Non-2xx or 3xx responses: 53088\nRequests/sec:    \
               298.71\nTransfer/sec:    384.70KB\n";
    let record = judged(&[wrk], &nothing());
    for id in ["wrk.rate", "wrk.mean"] {
        assert_eq!(says(&record, id), (Some(Verdict::Invalid), "errors-as-work".to_owned()));
    }
    for id in ["wrk.p50", "wrk.p99"] {
        assert_eq!(says(&record, id), (Some(Verdict::Invalid), "inputs".to_owned()));
    }
    let few = wrk.replace("responses: 53088", "responses: 20").replace("timeout 1216", "timeout 5000");
    let record = judged(&[&few], &nothing());
    assert_eq!(says(&record, "wrk.p99"), (Some(Verdict::Invalid), "timeouts-excluded".to_owned()));
}

#[test]
fn wrk2_counts_a_timeout_again_and_again() {
    let text = |timeouts: u32| {
        format!(
            "wrk2 -t2 -c10 -d30s -R 50 http://x/\nRunning 30s test @ http://x/\n  2 threads and 10 connections\n  Thread calibration: mean \
             lat.: 0.549ms, rate sampling interval: 10ms\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   540.95us   \
             66.96us 729.00us   72.50%\n    Req/Sec    25.07     10.83     0.00     99.01%\n  Latency Distribution (HdrHistogram - \
             Recorded Latency)\n 50.000%  524.00us\n 99.000%  729.00us\n----------------------------------------------------------\n  1500 \
             requests in 30.00s, 186.97KB read\n  Socket errors: connect 0, read 0, write 0, timeout {timeouts}\nRequests/sec:     \
             50.00\nTransfer/sec:      6.23KB\n"
        )
    };
    // 15 times the same request, or 1500 times some.
    assert_eq!(says(&judged(&[&text(15)], &nothing()), "wrk2.p99").1, "timeouts-excluded");
    assert_eq!(says(&judged(&[&text(15)], &nothing()), "wrk2.p99").0, Some(Verdict::Suspect));
    assert_eq!(
        says(&judged(&[&text(1500)], &nothing()), "wrk2.p99"),
        (Some(Verdict::Invalid), "timeouts-excluded".to_owned())
    );
    assert_eq!(says(&judged(&[&text(0)], &nothing()), "wrk2.rate").0, Some(Verdict::Unverified));
}

#[test]
fn what_is_under_way_when_httperf_is_stopped_has_not_failed() {
    let text = |length: &str| {
        format!(
            "httperf --hog --server localhost --port 8080 --uri / --num-conns=25 --num-calls=10000 --rate 1\nTotal: connections 25 requests \
             27745 replies 27720 test-duration 704.702 s\n\nConnection rate: 0.0 conn/s (28188.1 ms/conn, <=25 concurrent \
             connections)\nConnection time [ms]: min 0.0 avg 0.0 max 0.0 median 0.0 stddev 0.0\nConnection length [replies/conn]: \
             {length}\n\nRequest rate: 39.4 req/s (25.4 ms/req)\nReply rate [replies/s]: min 5.0 avg 39.3 max 40.0 stddev 3.8 (140 \
             samples)\nReply time [ms]: response 624.5 transfer 0.0\nReply status: 1xx=0 2xx=27720 3xx=0 4xx=0 5xx=0\n\nErrors: total 0 \
             client-timo 0 socket-timo 0 connrefused 0 connreset 0\nErrors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0\n"
        )
    };
    let of = |length: &str| says(&judged(&[&text(length)], &nothing()), "httperf.rate");
    assert!(of("0.000").1 != "errors-as-work" && of("0.000").0 < Some(Verdict::Suspect));
    assert_eq!(of("1108.800"), (Some(Verdict::Suspect), "errors-as-work".to_owned()));
}

#[test]
fn sysbench_prints_the_rate_at_which_transactions_begin() {
    let text = |target: &str| {
        format!(
            "sysbench 1.1.0-df89d34 (using bundled LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\nNumber of threads: \
             16\n{target}Initializing random number generator from current time\n\n\nInitializing worker threads...\n\nThreads \
             started!\n\nSQL statistics:\n    queries performed:\n        read:                            3603894\n        write:            \
             259534\n        other:                           1284992\n        total:                           5148420\n    \
             transactions:                        257421 (143.01 per sec.)\n    queries:                             5148420 (2860.17 per \
             sec.)\n    ignored errors:                      0      (0.00 per sec.)\n    reconnects:                          0      \
             (0.00 per sec.)\n\nThroughput:\n    events/s (eps):                      143.0086\n    time elapsed:                        \
             1800.0389s\n    total number of events:              257421\n\nLatency (ms):\n         min:                                    \
             7.39\n         avg:                                   28.97\n         max:                                  681.33\n"
        )
    };
    // At a rate 4 of 16 threads are busy, and the rate is met; without one 12 would be idle for no reason.
    let record = judged(&[&text("Target transaction rate: 143/sec\n")], &nothing());
    assert_eq!(
        says(&record, "sysbench-oltp.rate"),
        (Some(Verdict::Unverified), "coordinated-omission".to_owned())
    );
    let record = judged(&[&text("Target transaction rate: 300/sec\n")], &nothing());
    assert_eq!(says(&record, "sysbench-oltp.rate"), (Some(Verdict::Invalid), "rate-met".to_owned()));
    let record = judged(&[&text("")], &nothing());
    assert_eq!(says(&record, "sysbench-oltp.rate"), (Some(Verdict::Invalid), "littles-law".to_owned()));
}
