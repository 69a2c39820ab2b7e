//! What the host owes to providers in the life of an object, rule by rule, and the tests that hold each rule.
//!
//! The order follows an object's life: schema, configuration, stored state, refresh, plan, apply, removal, and what goes
//! beside it. A rule is one line in our own words; a case is a test function and the file that it is in. Lists, actions and state
//! stores of the protocol are not used: a stack cannot ask for them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One rule.
struct Rule {
    /// Short name.
    name: &'static str,
    /// What must be so.
    says: &'static str,
    /// `<file> <test function>`.
    cases: &'static [&'static str],
}

const fn rule(name: &'static str, says: &'static str, cases: &'static [&'static str]) -> Rule {
    Rule { name, says, cases }
}

const SCHEMA: &[Rule] = &[
    rule(
        "schema-first",
        "the schema is fetched before any other call of a process",
        &[
            "tests/fake_provider/tests.rs mistakes_of_the_host_are_told",
            "tests/provider_host/own.rs both_protocols_carry_the_same_values",
        ],
    ),
    rule(
        "schema-once",
        "where the provider allows it, a schema that is known is not fetched again",
        &[
            "tests/provider_host/own.rs a_schema_told_once_is_not_asked_for_again",
            "tests/provider_host/own.rs a_schema_of_60_mebibytes_is_taken_and_kept",
            "src/provider/cache.rs a_provider_that_has_to_be_asked_is_not_kept",
        ],
    ),
    rule(
        "schema-sound",
        "a schema that contradicts itself is the provider's fault, told with its place",
        &[
            "src/provider/schema_check.rs names_the_offender",
            "src/provider/schema_check.rs refuses_odd_block_names",
            "src/provider/schema.rs faults_name_their_place",
        ],
    ),
    rule(
        "schema-identities",
        "identities of types that the provider does not have are left out",
        &["src/provider/schema.rs identities_of_other_types_are_left_out"],
    ),
];

const CONFIGURE: &[Rule] = &[
    rule(
        "validate-first",
        "a configuration is validated before it is planned, and an error stops it",
        &[
            "tests/provider_promises.rs plans_of_new_objects",
            "tests/failures.rs mistakes_in_the_configuration_are_named_and_change_nothing",
        ],
    ),
    rule(
        "configure-once",
        "a process is configured once, with the value that was validated",
        &[
            "tests/provider_host/others.rs a_process_is_configured_once_and_the_first_one_reused",
            "tests/provider_host/faults.rs a_provider_that_cannot_be_configured_is_asked_once",
        ],
    ),
    rule(
        "configure-fails-dependants",
        "a provider that cannot be configured is called no more, and everyone who needs it is told",
        &["tests/provider_host/others.rs a_failure_is_told_to_everyone_and_happens_once"],
    ),
    rule(
        "configure-unknown",
        "a process that was configured with unknown values is never used to apply",
        &["tests/provider_host/faults.rs unknown_configuration_gets_a_process_of_its_own"],
    ),
    rule(
        "configured-calls",
        "what touches objects goes to configured processes only",
        &[
            "tests/fake_provider/tests.rs mistakes_of_the_host_are_told",
            "tests/provider_host/own.rs misuse_is_an_error_that_says_what",
        ],
    ),
];

const STORED: &[Rule] = &[
    rule(
        "upgrade-always",
        "a stored object is upgraded on every read, even if its version is current",
        &[
            "tests/provider_promises.rs stored_objects_that_are_upgraded_read_and_planned",
            "tests/provider_host/stored.rs older_schema_versions_are_upgraded_by_the_provider",
        ],
    ),
    rule(
        "upgrade-newer",
        "an object of a newer schema version is refused",
        &["tests/provider_host/stored.rs older_schema_versions_are_upgraded_by_the_provider"],
    ),
    rule(
        "upgrade-strip",
        "of an object of the current version, what the schema lacks is left out; of an older one nothing is",
        &[
            "src/provider/upgrade.rs removes_what_the_type_lacks",
            "src/provider/upgrade.rs leaves_the_rest_byte_for_byte",
        ],
    ),
    rule(
        "upgrade-conforms",
        "the upgraded object fits the schema, or that is an error",
        &["tests/provider_promises.rs stored_objects_that_are_upgraded_read_and_planned"],
    ),
    rule(
        "move-across-types",
        "an object of another type is moved by the provider it goes to",
        &["tests/provider_host/stored.rs objects_of_other_types_are_moved"],
    ),
    rule(
        "write-only-never-back",
        "write-only values in an answer are an error, and are not stored",
        &[
            "tests/provider_host/faults.rs a_write_only_value_that_comes_back_is_refused",
            "src/provider/write_only.rs finds_and_removes_values_at_any_depth",
        ],
    ),
];

const REFRESH: &[Rule] = &[
    rule(
        "refresh-before-plan",
        "stored objects are read before they are planned, unless the user says no",
        &[
            "tests/run_modes.rs without_refresh_nothing_is_read",
            "tests/lifecycle.rs drift_is_shown_and_undone_and_what_is_gone_is_made_again",
        ],
    ),
    rule(
        "refresh-gone",
        "an object that is gone is planned as new, and dropped from the state by a refresh",
        &[
            "tests/lifecycle.rs drift_is_shown_and_undone_and_what_is_gone_is_made_again",
            "tests/run_modes.rs a_refresh_records_what_is_there_and_changes_nothing",
        ],
    ),
    rule(
        "refresh-conforms",
        "what is read fits the schema, or that is an error and the old object stays",
        &["tests/provider_promises.rs stored_objects_that_are_upgraded_read_and_planned"],
    ),
    rule(
        "refresh-blocks",
        "missing blocks in an answer are empty ones, unknown blocks one unknown block",
        &[
            "src/schema/normalize.rs blocks_are_never_null",
            "src/schema/normalize.rs unknown_blocks_are_one_unknown_block",
        ],
    ),
    rule(
        "refresh-private",
        "private bytes and identity are those of the last answer",
        &[
            "tests/provider_promises.rs private_bytes",
            "tests/provider_host/stored.rs identities_go_there_and_back",
        ],
    ),
    rule(
        "refresh-orphans",
        "what left the configuration is read too",
        &["tests/run_modes.rs a_refresh_can_be_limited_and_reads_what_left_the_configuration"],
    ),
    rule(
        "drift-is-no-error",
        "what changed in the world is shown, and undone if the configuration says otherwise",
        &["tests/lifecycle.rs drift_is_shown_and_undone_and_what_is_gone_is_made_again"],
    ),
];

const PROPOSE: &[Rule] = &[
    rule(
        "propose-nothing",
        "nothing is proposed for nothing",
        &["src/plan/propose.rs nothing_proposed_for_nothing"],
    ),
    rule(
        "propose-new",
        "a new object is its configuration",
        &["src/plan/propose.rs a_new_object_is_the_configuration"],
    ),
    rule(
        "propose-computed",
        "a computed argument that is not set keeps its value, any other is as configured",
        &["src/plan/propose.rs attributes"],
    ),
    rule(
        "propose-removed-nested",
        "a nested argument that was configured and is no more goes, although its parent is computed",
        &["src/plan/propose.rs removed_nested_attribute"],
    ),
    rule(
        "propose-single",
        "a single block or object is merged with what is there",
        &["src/plan/propose.rs single_and_group"],
    ),
    rule(
        "propose-lists-maps",
        "elements of lists and maps are merged by position and key; new ones are as configured",
        &["src/plan/propose.rs lists", "src/plan/propose.rs maps"],
    ),
    rule(
        "propose-sets",
        "elements of sets are merged with one that differs in computed parts only",
        &[
            "src/plan/propose.rs sets",
            "src/plan/propose.rs sets_with_nesting",
        ],
    ),
    rule(
        "propose-unknown",
        "an unknown configuration is passed on as it is",
        &[
            "src/plan/propose.rs unknown_configuration",
            "src/plan/propose.rs dynamic_blocks",
        ],
    ),
    rule(
        "propose-later",
        "of what is read during apply, everything that may be computed is unknown",
        &["src/plan/propose.rs object_read_later"],
    ),
];

const PLAN: &[Rule] = &[
    rule(
        "precondition-first",
        "preconditions come before everything else that is done about an object",
        &[
            "tests/conditions.rs what_is_known_is_judged_while_planning",
            "tests/conditions.rs a_precondition_that_apply_tells_stops_the_change",
        ],
    ),
    rule(
        "postcondition-of-plan",
        "postconditions are judged on the planned object as far as it is known",
        &["tests/conditions.rs what_is_known_is_judged_while_planning"],
    ),
    rule(
        "plan-tainted-as-new",
        "a tainted object is planned as if it were not there, and replaced",
        &[
            "tests/failures.rs a_creation_that_fails_halfway_is_tainted_and_replaced",
            "tests/lifecycle_rules.rs a_tainted_object_is_protected_too",
        ],
    ),
    rule(
        "plan-conforms",
        "a plan fits the schema and is an object",
        &[
            "tests/provider_promises.rs plans_of_new_objects",
            "src/plan/check.rs presence",
        ],
    ),
    rule(
        "plan-keeps-config",
        "a plan is what is configured, or what is there where the provider calls that the same",
        &[
            "src/plan/check.rs configured_attributes",
            "tests/provider_promises.rs plans_of_new_objects",
        ],
    ),
    rule(
        "plan-decides-computed",
        "only what is computed may be planned freely",
        &[
            "src/plan/check.rs open_attributes",
            "src/plan/check.rs open_nested_attributes",
        ],
    ),
    rule(
        "plan-write-only",
        "a write-only argument is planned as null",
        &["src/plan/check.rs write_only_attributes"],
    ),
    rule(
        "plan-nested",
        "nested attributes are judged inside; lists and maps have the configured size, elements of sets are not paired",
        &[
            "src/plan/check.rs nested_attributes",
            "src/plan/check.rs nested_lists",
            "src/plan/check.rs nested_maps",
            "src/plan/check.rs nested_sets",
        ],
    ),
    rule(
        "plan-blocks",
        "blocks are planned one for one, and are never null or unknown unless configured so",
        &[
            "src/plan/check.rs blocks",
            "src/plan/check.rs lists_of_blocks",
            "src/plan/check.rs maps_and_sets_of_blocks",
            "src/plan/check.rs unknown_blocks",
            "src/plan/check.rs dynamic_blocks",
        ],
    ),
    rule(
        "plan-hides-secrets",
        "what is said about a sensitive value does not hold it",
        &[
            "src/plan/check.rs sensitive_values_are_not_quoted",
            "src/plan/compatible.rs sensitive_values_are_not_quoted",
        ],
    ),
    rule(
        "plan-legacy",
        "an illegal plan of an old SDK is tolerated, one of the wrong shape is not",
        &[
            "tests/provider_promises.rs plans_of_new_objects",
            "tests/provider_promises.rs stored_objects_that_are_upgraded_read_and_planned",
        ],
    ),
    rule(
        "replace-effective",
        "a path asks for a replacement only if its value changes",
        &["src/plan/replace.rs only_what_changes_needs_replacement"],
    ),
    rule(
        "replace-write-only",
        "a write-only path asks for a replacement always",
        &[
            "src/plan/replace.rs write_only",
            "tests/provider_promises.rs final_plans",
        ],
    ),
    rule(
        "replace-nowhere",
        "a path that leads nowhere is an error, for old SDKs too",
        &[
            "src/plan/replace.rs paths_into_nothing_are_errors",
            "tests/provider_promises.rs stored_objects_that_are_upgraded_read_and_planned",
        ],
    ),
    rule(
        "action",
        "create, no-op, update or replace, in this order of reasons",
        &[
            "src/plan/replace.rs actions",
            "tests/lifecycle.rs updates_in_place_and_replacements",
        ],
    ),
    rule(
        "replace-plans-anew",
        "the successor is planned from nothing, with the configuration as written",
        &["tests/lifecycle_rules.rs ignored_arguments_count_for_a_new_object"],
    ),
    rule(
        "prevent-destroy",
        "a protected object is neither replaced nor destroyed, and nothing else is done instead",
        &[
            "tests/lifecycle_rules.rs prevent_destroy",
            "tests/lifecycle_rules.rs what_is_protected_can_be_left_out_of_a_destruction",
            "tests/lifecycle.rs what_is_protected_is_not_destroyed",
        ],
    ),
    rule(
        "triggers",
        "an object is replaced if what its triggers name is updated, replaced or changes its value",
        &["tests/lifecycle_rules.rs replace_triggered_by"],
    ),
];

const IGNORE: &[Rule] = &[
    rule(
        "ignore-new",
        "a new object ignores nothing",
        &[
            "src/plan/ignore.rs a_new_object_ignores_nothing",
            "tests/lifecycle_rules.rs ignored_arguments_count_for_a_new_object",
        ],
    ),
    rule(
        "ignore-all",
        "with `*` the object stays as it is, what only the provider sets left open",
        &[
            "src/plan/ignore.rs everything",
            "tests/lifecycle_rules.rs ignore_changes",
        ],
    ),
    rule(
        "ignore-paths",
        "an ignored path keeps its value, whatever is around it",
        &[
            "src/plan/ignore.rs paths",
            "src/plan/ignore.rs paths_that_lead_nowhere",
            "tests/lifecycle_rules.rs ignore_changes",
        ],
    ),
    rule(
        "ignore-map-keys",
        "single keys of a map can be ignored, new and gone ones too",
        &[
            "src/plan/ignore.rs map_keys",
            "tests/lifecycle.rs ignored_changes_are_left_alone",
        ],
    ),
    rule(
        "ignore-computed",
        "ignoring what only the provider decides is a warning, ignoring what does not exist an error",
        &[
            "src/plan/ignored.rs paths_lead_somewhere",
            "tests/lifecycle_rules.rs ignore_changes",
        ],
    ),
];

const REMOVE: &[Rule] = &[
    rule(
        "remove-asks-if-wanted",
        "a removal is planned by the provider only if it wants to be asked; the answer must be null",
        &["tests/provider_promises.rs plans_of_removals_where_the_provider_wants_to_be_asked"],
    ),
    rule(
        "remove-order",
        "what leaves the configuration is destroyed, dependants first",
        &[
            "tests/lifecycle.rs what_leaves_the_configuration_is_destroyed_dependants_first",
            "src/plan/order.rs who_waits_for_whom",
        ],
    ),
    rule(
        "remove-result",
        "an object that is still there after its removal stays in the state, with an error",
        &["tests/provider_promises.rs results_of_updates_and_removals"],
    ),
    rule(
        "destroy-conditions",
        "conditions do not keep anything from being destroyed",
        &["tests/conditions.rs conditions_do_not_keep_from_destroying_and_warn_while_refreshing"],
    ),
    rule(
        "deposed",
        "a predecessor that could not be destroyed is destroyed by the next run",
        &["tests/lifecycle.rs replacements_create_first_where_asked_and_for_what_that_depends_on"],
    ),
];

const APPLY: &[Rule] = &[
    rule(
        "apply-plans-again",
        "with what is known then, an object is planned again, and no other action and no other value comes of it",
        &["tests/provider_promises.rs final_plans"],
    ),
    rule(
        "apply-known",
        "only a configuration that is wholly known is applied",
        &[
            "tests/fake_provider/tests.rs mistakes_of_the_host_are_told",
            "tests/phases.rs computed_hops_over_two_protocols",
        ],
    ),
    rule(
        "apply-unchanged",
        "an object that stays is judged by its conditions, without a call",
        &["tests/conditions.rs an_object_that_stays_is_judged_by_what_changes"],
    ),
    rule(
        "result-missing",
        "a failed call, or an answer without object, leaves what was there",
        &[
            "tests/provider_promises.rs results_of_creations",
            "tests/provider_promises.rs results_of_updates_and_removals",
            "tests/failures.rs a_provider_that_dies_while_applying_is_recovered_from",
        ],
    ),
    rule(
        "result-conforms",
        "a result that does not fit the schema is an error and is not stored",
        &[
            "tests/provider_promises.rs results_of_creations",
            "tests/provider_promises.rs results_of_updates_and_removals",
        ],
    ),
    rule(
        "result-known",
        "a result is wholly known; what is not is an error and null",
        &["tests/provider_promises.rs results_of_creations"],
    ),
    rule(
        "result-as-planned",
        "a result is what was planned; an old SDK may differ",
        &[
            "tests/provider_promises.rs results_of_creations",
            "src/plan/compatible.rs known_values",
            "src/plan/compatible.rs presence",
        ],
    ),
    rule(
        "result-refined",
        "what was promised of an unknown value is kept",
        &[
            "tests/provider_promises.rs results_of_creations",
            "src/plan/compatible.rs unknown_values",
        ],
    ),
    rule(
        "result-blocks",
        "blocks of a result are those of the plan",
        &[
            "src/plan/compatible.rs blocks",
            "src/plan/compatible.rs maps_of_blocks",
        ],
    ),
    rule(
        "result-sets",
        "every planned element of a set has a counterpart, and the other way round",
        &["src/plan/compatible.rs sets"],
    ),
    rule(
        "tainted",
        "a creation that failed with an object is tainted, an update never is",
        &[
            "tests/provider_promises.rs results_of_creations",
            "tests/provider_promises.rs results_of_updates_and_removals",
        ],
    ),
    rule(
        "restored",
        "if no successor could be made, the object that was put aside is the current one again",
        &["tests/lifecycle.rs replacements_create_first_where_asked_and_for_what_that_depends_on"],
    ),
    rule(
        "durable",
        "what was done is on disk before anything depends on it",
        &[
            "tests/failures.rs a_killed_run_loses_nothing_and_names_what_was_in_flight",
            "tests/backends/mod.rs a_crash_in_any_write_loses_nothing_that_was_reported",
        ],
    ),
    rule(
        "postcondition",
        "a postcondition that does not hold stops what depends on the object, which is kept",
        &["tests/conditions.rs a_postcondition_that_does_not_hold_stops_what_depends_on_it"],
    ),
];

const DATA: &[Rule] = &[
    rule(
        "data-when-known",
        "a data source is read while planning if its configuration is known and nothing it explicitly depends on changes",
        &[
            "tests/phases.rs a_data_source_is_read_in_plan_and_what_is_derived_from_it_is_known_there",
        ],
    ),
    rule(
        "data-guarded",
        "a data source with conditions waits for everything it depends on",
        &["tests/conditions.rs data_sources_are_guarded_too"],
    ),
    rule(
        "data-whole",
        "what is read is an object of the schema, wholly known",
        &[
            "tests/provider_promises.rs data_sources",
            "tests/provider_host/faults.rs a_data_source_gives_a_whole_object",
        ],
    ),
    rule(
        "checks-warn",
        "checks of the stack warn, at plan and after apply",
        &["tests/conditions.rs checks_warn_and_never_stop"],
    ),
];

const BESIDE: &[Rule] = &[
    rule(
        "ephemeral-opened",
        "an ephemeral resource is opened for a plan and again for an apply, and closed afterwards",
        &[
            "tests/transient.rs an_ephemeral_value_reaches_providers_and_write_only_attributes_and_nothing_else",
        ],
    ),
    rule(
        "ephemeral-renewed",
        "an ephemeral resource is renewed when its provider says so",
        &["tests/transient.rs an_ephemeral_resource_is_renewed_while_it_is_needed"],
    ),
    rule(
        "ephemeral-faults",
        "what opening gives is an object of the schema, wholly known; what fails is told with its address",
        &["tests/transient.rs what_fails_about_an_ephemeral_resource_is_told_with_its_address"],
    ),
    rule(
        "ephemeral-unwritten",
        "an ephemeral value is never written down",
        &["tests/transient.rs an_ephemeral_value_is_refused_where_it_would_be_written_down"],
    ),
    rule(
        "functions-known",
        "a function is called with arguments of its parameters' types, once they are known",
        &["tests/transient.rs functions_are_called_once_their_arguments_are_known"],
    ),
    rule(
        "functions-faults",
        "an error of a function is told with the argument it is about",
        &["tests/transient.rs a_call_that_cannot_be_made_says_which_argument_is_wrong"],
    ),
    rule(
        "meta",
        "if the provider has metadata, every call about objects carries it",
        &[
            "tests/provider_promises.rs private_bytes",
            "tests/provider_promises.rs data_sources",
        ],
    ),
    rule(
        "import",
        "an import gives objects of the type asked for, with private bytes and identity",
        &[
            "tests/provider_host/others.rs computed_values_imports_and_data_sources_of_other_providers",
            "tests/provider_host/stored.rs identities_go_there_and_back",
        ],
    ),
    rule(
        "deferred",
        "an operation that the provider defers is an error, because it was not allowed to",
        &["tests/provider_promises.rs deferred_operations"],
    ),
    rule(
        "identity",
        "an identity is sent where there is a schema for it, and kept as it was given last",
        &[
            "tests/provider_host/stored.rs identities_go_there_and_back",
            "src/provider/convert.rs an_identity_needs_a_schema_and_a_value",
        ],
    ),
    rule(
        "diagnostics",
        "what a provider says is told with the address and the place, warnings too",
        &[
            "tests/provider_promises.rs warnings_have_an_address",
            "tests/provider_promises.rs plans_of_new_objects",
            "src/provider/convert.rs diagnostics_keep_their_text_and_place",
        ],
    ),
];

fn all() -> impl Iterator<Item = &'static Rule> {
    let parts = [
        SCHEMA, CONFIGURE, STORED, REFRESH, PROPOSE, PLAN, IGNORE, REMOVE, APPLY, DATA, BESIDE,
    ];
    parts.into_iter().flatten()
}

/// Whether a source text has a test function of this name.
fn has_test(text: &str, name: &str) -> bool {
    let Some(at) = text.find(&format!("fn {name}()")) else {
        return false;
    };
    let above = text[..at].lines().rev().map(str::trim);
    let above = above.skip_while(|line| line.is_empty() || *line == "async");
    let mut attributes = above.take_while(|line| line.starts_with("#["));
    attributes.any(|line| line == "#[test]" || line == "#[tokio::test]")
}

#[test]
fn every_rule_has_cases_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    let mut names = BTreeSet::new();
    let mut wrong = Vec::new();
    for Rule { name, says, cases } in all() {
        assert!(names.insert(name), "two rules are called {name}");
        assert!(!says.is_empty() && !cases.is_empty(), "{name} has no case");
        for case in *cases {
            let (file, function) = case.split_once(' ').unwrap();
            let text = texts.entry(file).or_insert_with(|| {
                std::fs::read_to_string(root.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
            });
            if !has_test(text, function) {
                wrong.push(format!("{name}: no test {function} in {file}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(names.len() > 80, "{} rules", names.len());
}
