//! The tests of this crate in one program, which is linked once.

mod alloc_test;
mod causes;
mod compare;
mod compare_html;
mod compare_records;
mod compare_study;
mod doctor;
mod exports;
mod formats;
mod html;
mod openmetrics;
mod pages;
mod sample;
mod svg;
mod text;
mod unixbench;
