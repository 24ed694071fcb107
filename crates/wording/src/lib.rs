//! `#[derive(Wording)]`: the sentences of a case, next to its values.
//!
//! Each variant of the enum has `#[claim("…")]`, the sentences of its `#[evidence("…")]`, and perhaps `#[fix("…")]`: what to do. All
//! have the syntax of `format!`, with the fields of the variant as variables (`_0` in a tuple), and may be in several parts: parts of
//! evidence are sentences, with a space between; the others follow one another. A part behind `field => ` is there where the field
//! has a value (`Present`), which then is the variable of its name; one behind `!field => ` where it has none.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::parse::ParseStream;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, Result, Token, Variant, parse_macro_input};

/// Makes a `Case` of the crate `judge` of each variant, and lists their names.
#[proc_macro_derive(Wording, attributes(claim, evidence, fix))]
pub fn wording(input: TokenStream) -> TokenStream {
    expand(&parse_macro_input!(input)).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<Tokens> {
    let Data::Enum(cases) = &input.data else {
        return Err(Error::new_spanned(input, "only an enum has cases"));
    };
    let arms = cases.variants.iter().map(|variant| arm(&input.ident, variant)).collect::<Result<Vec<_>>>()?;
    let names = cases.variants.iter().map(|variant| kebab_case(&variant.ident));
    let ident = &input.ident;
    Ok(quote! {
        impl #ident {
            /// The names of all cases.
            pub const NAMES: &'static [&'static str] = &[#(#names),*];
        }

        #[automatically_derived]
        #[allow(unused_variables, clippy::useless_format)]
        impl From<#ident> for crate::cases::case::Case {
            fn from(case: #ident) -> Self {
                match &case { #(#arms)* }
            }
        }
    })
}

/// The case that a variant is: its name, its values, and the sentences of claim, evidence and fix.
fn arm(cases: &Ident, variant: &Variant) -> Result<Tokens> {
    let (ident, name) = (&variant.ident, kebab_case(&variant.ident));
    let (pattern, values) = match &variant.fields {
        Fields::Named(fields) => {
            let fields: Vec<&Ident> = fields.named.iter().filter_map(|field| field.ident.as_ref()).collect();
            let names = fields.iter().map(ToString::to_string);
            let values =
                quote! { [#((#names.to_owned(), serde_json::to_value(#fields).unwrap_or_default())),*] };
            (quote! { #cases::#ident { #(#fields),* } }, quote! { #values.into_iter().collect() })
        }
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            (quote! { #cases::#ident(_0) }, quote! { serde_json::to_value(_0).unwrap_or_default() })
        }
        Fields::Unnamed(_) => return Err(Error::new_spanned(variant, "several values need names")),
        Fields::Unit => (quote! { #cases::#ident }, quote! { serde_json::Value::Null }),
    };
    let [claim, evidence, fix] = ["claim", "evidence", "fix"].map(|part| sentences(&variant.attrs, part));
    let (claim, evidence, fix) = (claim?, evidence?, fix?);
    if claim.is_empty() {
        return Err(Error::new_spanned(variant, "a case has a claim"));
    }
    Ok(quote! {
        #pattern => Self::new(#name, #values, [vec![#(#claim),*], vec![#(#evidence),*], vec![#(#fix),*]]),
    })
}

/// An optional text for each attribute of this name.
fn sentences(attributes: &[Attribute], name: &str) -> Result<Vec<Tokens>> {
    let sentence = |input: ParseStream| {
        let is_absent = input.parse::<Option<Token![!]>>()?.is_some();
        if !(is_absent || input.peek2(Token![=>])) {
            return input.parse::<Tokens>().map(|text| quote! { Some(format!(#text)) });
        }
        let field: Ident = input.parse()?;
        input.parse::<Token![=>]>()?;
        let text: Tokens = input.parse()?;
        Ok(match is_absent {
            true => quote! { crate::values::Present::present(#field).is_none().then(|| format!(#text)) },
            false => quote! { crate::values::Present::present(#field).map(|#field| format!(#text)) },
        })
    };
    let attributes = attributes.iter().filter(|attribute| attribute.path().is_ident(name));
    attributes.map(|attribute| attribute.parse_args_with(sentence)).collect()
}

/// As serde's `rename_all = "kebab-case"` names a variant.
fn kebab_case(name: &Ident) -> String {
    let mut kebab = String::new();
    for letter in name.to_string().chars() {
        if letter.is_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.extend(letter.to_lowercase());
    }
    kebab
}
