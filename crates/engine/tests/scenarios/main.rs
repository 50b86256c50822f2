//! The engine on a small stage: what it asks for, when, and in what order.

mod budgets;
mod choice;
mod crowds;
mod cut;
mod depth;
mod failing;
mod floods;
mod hands;
mod holdups;
mod liveness;
mod manners;
mod names;
mod near;
mod owner;
mod readmission;
mod requisites;
mod revisits;
mod sitemaps;
mod stage;
mod traps;
