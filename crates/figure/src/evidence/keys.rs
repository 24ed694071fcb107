//! The keys. One entry each: constant, type, name, unit, scope, and what it says.

pub mod audit;
pub mod http;
pub mod lab;

use super::KeyInfo;

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
use keys;

/// Every key.
pub fn all() -> impl Iterator<Item = &'static KeyInfo> {
    lab::ALL.iter().chain(http::ALL).chain(audit::ALL)
}
