//! Cases of `truebench memory`.

use derive_more::Display;
use serde::Serialize;
use strum::VariantNames;

use crate::values::{Amount, Cited, Count, Name, Share, Times};

/// Cases of `truebench memory`.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Memory {
    // write-allocate: a regular store reads the line first, which STREAM does not count.
    #[display(
        "Write-allocate: {counted} counted is {moved} moved\n\
         {hidden} of {bytes} B per element are reads that STREAM does not count. {nt}, where only the store differs, \
         gains {gain} of the predicted {predicted}."
    )]
    WriteAllocateExplains {
        counted: Amount,
        moved: Amount,
        hidden: Count,
        bytes: Count,
        nt: Name,
        gain: Times,
        predicted: Times,
    },
    #[display(
        "Moves only what it counts: no write-allocate\n\
         Gains {gain} over {regular}; the write-allocate predicts {predicted}."
    )]
    WriteAllocateAvoided { regular: Name, gain: Times, predicted: Times },
    #[display(
        "Write-allocate explains a part: {other} differs by {gain}, {predicted} predicted\n\
         Either the processor avoids part of the reads, or its non-temporal stores are slow."
    )]
    WriteAllocateInPart { other: Name, gain: Times, predicted: Times },
    #[display(
        "Write-allocate explains {predicted} of the {gain} between this and {other}\n\
         The rest has another cause."
    )]
    WriteAllocateExceeded { other: Name, gain: Times, predicted: Times },

    // peak: the share of the theoretical peak.
    #[display("Moves {moved}: {share} of the theoretical peak of {peak}\nPeak: {basis}.")]
    ShareOfPeak { moved: Amount, share: Share, peak: Amount, basis: String },
    #[display(
        "Moves {moved}, the most of this run; the theoretical peak is unknown\n\
         {reason}\n\
         $ name the memory modules: --dimms 12x2666"
    )]
    PeakUnknown { moved: Amount, reason: String },

    // mix: copy against triad with non-temporal stores.
    #[display(
        "Below {triad}: its mix of reads and writes is {mix}, not {other}\n\
         With regular stores both move the same, {regular} and {regular_triad}: the loop is not slower."
    )]
    BelowByMix { triad: Cited, mix: String, other: String, regular: Amount, regular_triad: Amount },
    #[display(
        "Below {triad}: its mix of reads and writes is {mix}, not {other}\n\
         Regular stores were not measured, so a slower loop is not ruled out."
    )]
    BelowPerhapsByMix { triad: Cited, mix: String, other: String },
    #[display(
        "Below {triad}: its mix of reads and writes is {mix}, not {other}\n\
         Loops that differ in the mix alone: {more} is {ratio} of {fewer}."
    )]
    BelowByMixMeasured { triad: Cited, mix: String, other: String, more: Cited, fewer: Cited, ratio: Times },
    #[display(
        "Below {triad} by its own loop, not by its mix\nLoops that differ in the mix alone: {more} is {ratio} of {fewer}."
    )]
    BelowByLoop { triad: Cited, more: Cited, fewer: Cited, ratio: Times },
    #[display(
        "Above {triad} although it writes more\nLoops that differ in the mix alone: {more} is {ratio} of {fewer}."
    )]
    AboveTriad { triad: Cited, more: Cited, fewer: Cited, ratio: Times },
    #[display(
        "{slower} is slow by its own loop, not by its mix\n\
         libc's memcpy moves more in the same mix ({mix}): {libc}."
    )]
    SlowerThanLibc { slower: Name, mix: String, libc: Cited },
    #[display(
        "The rest is the mix: {mix} here, {other} in {nt}\n\
         {alike}, {mix} as well, moves {moved}."
    )]
    RestByMix { mix: String, other: String, nt: Name, alike: Name, moved: Amount },
}
