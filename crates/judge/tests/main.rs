//! Rules over several figures, explanations and findings, by records made for them.

mod calls;
mod cores;
mod explain;
mod explain_alignment;
mod explain_alloc;
mod explain_audited;
mod explain_baseline;
mod explain_counters;
mod explain_faults;
mod explain_findings;
mod explain_http;
mod explain_levels;
mod explain_noise;
mod explain_numa;
mod explain_prices;
mod explain_scaling;
mod explain_switch;
mod explain_system;
mod levers;
mod mixes_and_loads;
mod programs;
mod relations;
mod relations_records;
mod second_instrument;
mod twins;
mod walk;
