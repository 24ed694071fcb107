//! HTTP loads as tables: one for each goal, and where a request's CPU time goes.

use figure::evidence::audit::TOOL;
use figure::evidence::http as key;
use figure::{Figure, Record};
use suites::loads;

use crate::tables::Table;

mod asked;
mod cells;
mod goals;
mod search;
mod split;

/// From this width of a page on the verdict of a load is in words.
const WIDE: usize = 112;

/// Whether a figure is shown by these tables. What other tools printed of a load is not.
pub(crate) fn is_of_load(figure: &Figure) -> bool {
    figure.conditions.get(key::WHAT).is_some() && figure.conditions.get(TOOL).is_none()
}

/// Whether a figure was computed from a load.
pub(crate) fn is_computed(figure: &Figure) -> bool {
    is_of_load(figure) && !figure.derived_from.is_empty()
}

/// All tables of a record, in the order in which they are read; none if it holds no load.
pub(crate) fn tables(record: &Record) -> Vec<Table<'_>> {
    let loads = loads::loads(record);
    let ceilings = loads::ceilings(record);
    let mut tables = goals::tables(&loads, &ceilings);
    tables.extend(search::tables(&loads));
    tables.extend(loads.iter().filter(|load| load.goal() == loads::ASKED).flat_map(asked::tables));
    tables.extend(split::buckets(&loads));
    tables.iter_mut().for_each(|table| table.words_from = WIDE);
    tables
}
