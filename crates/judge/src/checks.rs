//! One file for each check on one figure, and the list of them.

mod above_limit;
mod advertised_cache;
mod allocator_loaded;
pub(crate) mod array_size;
mod bimodal;
mod calls_and_faults;
mod channels_read;
mod client_saturated;
mod clock_granularity;
mod clock_jump;
mod connections_served;
mod coordinated_omission;
mod copies_gain;
mod copies_overlap;
mod counter_coverage;
mod debug_build;
mod delayed_ack;
mod drift;
mod emulated;
mod environment_unknown;
mod errors_as_work;
mod executed_image;
mod fault_coverage;
mod faults;
mod faults_counted;
mod files_and_memory;
mod first_touch;
mod foreign_load;
mod frequency;
mod gc_regime;
mod gomaxprocs;
mod heartbeat;
mod http_conformance;
mod inconsistent_totals;
mod inputs;
mod insignificant_difference;
mod interrupts;
mod interval_unknown;
mod involuntary_switches;
mod keep_alive_lost;
mod latencies_complete;
pub(crate) mod levels;
pub(crate) mod line_transfer;
mod listen_overflow;
mod littles_law;
mod loopback;
pub(crate) mod loss;
mod memory_errors;
mod memory_latency;
mod memory_limit;
mod mixed_cores;
mod numa_balancing;
mod numa_placement;
mod observer_cost;
mod off_cpu;
mod page_size;
mod pipelining;
pub(crate) mod placement_dependent;
mod placement_held;
pub(crate) mod placement_unknown;
mod ports;
mod precision;
mod profile_coverage;
mod quota;
mod rate_met;
mod rates_steady;
mod repeats;
mod response_length_varies;
mod results_truncated;
mod rounds;
mod rounds_agree;
mod run_queue_delay;
mod sample_count;
mod scheduler;
mod server_host;
mod server_not_saturated;
mod setting_effect;
mod shared_cpus;
mod sibling_load;
mod steal;
mod stragglers;
mod survivorship_bias;
mod swap;
mod switch_sizes;
mod switches_per_hop;
mod thermal;
mod threads_even;
mod threads_on_distinct_cores;
mod threads_overlap;
mod threads_within_mask;
mod throttled;
mod timeouts_excluded;
pub(crate) mod too_short;
pub(crate) mod traffic_agreement;
mod traffic_background;
mod traffic_channels;
mod traffic_multiplexed;
mod trend;
mod unequal_cores;
mod uneven_cores;
mod verified;

pub(crate) use clock_jump::jump;

use crate::check::Check;

/// The checks, in causal order: what causes stands before what it causes, so that of the answers that are
/// equally bad the first names the cause. A cause must also reach `fail` whenever its consequence does;
/// checks that are bound so share their levels.
pub const ALL: &[&Check] = &[
    // What was computed, by what code, from what.
    &inputs::CHECK,
    &verified::CHECK,
    &too_short::CHECK,
    &inconsistent_totals::CHECK,
    &threads_even::CHECK,
    &copies_gain::CHECK,
    &line_transfer::CHECK,
    &faults_counted::CHECK,
    &debug_build::CHECK,
    &emulated::CHECK,
    &executed_image::CHECK,
    &allocator_loaded::CHECK,
    &setting_effect::CHECK,
    &scheduler::CHECK,
    // What was asked for against what there is.
    &uneven_cores::CHECK,
    &threads_within_mask::CHECK,
    &threads_on_distinct_cores::CHECK,
    &mixed_cores::CHECK,
    &quota::CHECK,
    &throttled::CHECK,
    // Memory: there is enough, it is large enough, it is there, it is where it should be.
    &memory_limit::CHECK,
    &array_size::CHECK,
    &swap::CHECK,
    &first_touch::CHECK,
    &page_size::CHECK,
    &numa_balancing::CHECK,
    &numa_placement::CHECK,
    &memory_errors::CHECK,
    &faults::CHECK,
    &fault_coverage::CHECK,
    &calls_and_faults::CHECK,
    // HTTP: what there was to serve a load, and to make it.
    &http_conformance::CHECK,
    &server_host::CHECK,
    &shared_cpus::CHECK,
    &gomaxprocs::CHECK,
    &files_and_memory::CHECK,
    &ports::CHECK,
    &loopback::CHECK,
    // Time: what it is measured with.
    &clock_jump::CHECK,
    &clock_granularity::CHECK,
    &heartbeat::CHECK,
    // CPUs: who else had them, then what that did to our threads.
    &placement_held::CHECK,
    &switches_per_hop::CHECK,
    &steal::CHECK,
    &off_cpu::CHECK,
    &foreign_load::CHECK,
    &interrupts::CHECK,
    &sibling_load::CHECK,
    &placement_dependent::CHECK,
    &run_queue_delay::CHECK,
    &involuntary_switches::CHECK,
    &thermal::CHECK,
    &frequency::CHECK,
    &unequal_cores::CHECK,
    &advertised_cache::CHECK,
    // HTTP: what became of the requests, who was at the limit, and what follows for rate and latency.
    &pipelining::CHECK,
    &listen_overflow::CHECK,
    &keep_alive_lost::CHECK,
    &delayed_ack::CHECK,
    &connections_served::CHECK,
    &errors_as_work::CHECK,
    &response_length_varies::CHECK,
    &client_saturated::CHECK,
    &server_not_saturated::CHECK,
    &rate_met::CHECK,
    &results_truncated::CHECK,
    &timeouts_excluded::CHECK,
    &littles_law::CHECK,
    &coordinated_omission::CHECK,
    &interval_unknown::CHECK,
    &counter_coverage::CHECK,
    &sample_count::CHECK,
    &channels_read::CHECK,
    &memory_latency::CHECK,
    &switch_sizes::CHECK,
    &placement_unknown::CHECK,
    &insignificant_difference::CHECK,
    &survivorship_bias::CHECK,
    &latencies_complete::CHECK,
    &gc_regime::CHECK,
    &observer_cost::CHECK,
    &profile_coverage::CHECK,
    &trend::CHECK,
    // What all of it does to the numbers.
    &copies_overlap::CHECK,
    &threads_overlap::CHECK,
    &stragglers::CHECK,
    &rates_steady::CHECK,
    &bimodal::CHECK,
    &drift::CHECK,
    &rounds_agree::CHECK,
    &repeats::CHECK,
    &above_limit::CHECK,
    // Traffic that counters saw: what was counted, then what it amounts to.
    &traffic_channels::CHECK,
    &traffic_multiplexed::CHECK,
    &traffic_background::CHECK,
    &traffic_agreement::CHECK,
    &environment_unknown::CHECK,
];

/// What every figure is asked last: whether it is repeated often enough, and known well enough. All that disturbs it stands before.
pub const SUPPORT: &[&Check] = &[&rounds::CHECK, &precision::CHECK];
