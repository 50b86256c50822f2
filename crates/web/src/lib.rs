//! What does a person see of a crawl in a browser? The dashboard: each page answers a question,
//! works without scripts, and has its data as JSON at the same path with `.json`.
//!
//! It knows a crawl by its directory alone and asks as `rhumb status` does: a running crawl by its
//! socket, one at rest by its store. So a crawl never waits for a viewer, and what is shown is
//! what the command line says. What its owner changes by hand is sent through the socket, too. This
//! crate never decides anything about a crawl, and never writes.

mod assets;
mod copy;
mod events;
mod figures;
mod guard;
mod host_page;
mod overview;
mod page;
mod patient;
mod routes;
mod routes_of_one;
mod searched;
mod serve;
mod side_by_side;
mod source;
mod speed;
mod steer;
mod tables;
mod url_page;
mod web_picture;

pub use serve::{DashboardBindError, DashboardPort, Rights, Serving, bind};
