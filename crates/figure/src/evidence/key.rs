//! What a key is, and how lists of keys are written.

use std::marker::PhantomData;

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A condition of the figure, in [`Conditions`](crate::Conditions).
    Condition,
    /// One round: the change of a counter around its timed region, or a reading in it.
    Round,
    /// The figure as a whole.
    Figure,
}

/// A typed key: the only way to write or read a fact.
#[derive(Debug)]
pub struct Key<T> {
    /// Stable, dotted name.
    pub name: &'static str,
    /// Unit of numbers.
    pub unit: &'static str,
    /// What it is about.
    pub scope: Scope,
    /// One sentence: what it says and where it comes from.
    pub about: &'static str,
    pub(crate) holds: PhantomData<fn() -> T>,
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Key<T> {}

/// A key without its type, for lists.
#[derive(Clone, Copy, Debug)]
pub struct KeyInfo {
    /// Stable, dotted name.
    pub name: &'static str,
    /// Unit of numbers.
    pub unit: &'static str,
    /// What it is about.
    pub scope: Scope,
    /// What it says.
    pub about: &'static str,
}

/// A list of keys: constants, and `ALL`, the list without types.
macro_rules! keys {
    ($($constant:ident: $type:ty = $name:literal, $unit:literal, $scope:ident, $about:literal;)*) => {
        $(
            #[doc = $about]
            pub const $constant: Key<$type> =
                Key { name: $name, unit: $unit, scope: Scope::$scope, about: $about, holds: PhantomData };
        )*
        /// Every key of this list.
        pub const ALL: &[KeyInfo] = &[
            $(KeyInfo { name: $name, unit: $unit, scope: Scope::$scope, about: $about },)*
        ];
    };
}
pub(super) use keys;
