/*
 * A parameter table as Open MPI variables.
 *
 * Open MPI's own conversion takes "abc" as 0, "1e6" as 1 and "-5" as a huge
 * size, all without a word.  What the user wrote, in the environment, which is
 * where `mpirun --mca` puts it, or in a file, is therefore parsed once more,
 * strictly.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "mca_params.h"

#include <opal/mca/base/mca_base_vari.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char prefix[] = "OMPI_MCA_";

enum { NAME_BYTES = 128, TEXT_BYTES = 256, HELP_BYTES = ARC_PARAM_HELP_BYTES + TEXT_BYTES };

/* What the environment says about the parameter `name`, or NULL. */
static char *environment_value(const arc_component_t *component, const char *name)
{
    const size_t used = sizeof prefix - 1;
    char variable[NAME_BYTES];

    memcpy(variable, prefix, sizeof prefix);
    arc_param_name(arc_component_name(component), name, variable + used, sizeof variable - used);
    return getenv(variable);
}

bool mca_params_may_warn(const arc_component_t *component)
{
    /* Of mpirun, of PMIx, and where neither starts the ranks, of PMI-2 and Flux, or Slurm. */
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    const char *verbose = environment_value(component, "arc_verbose");
    const char *rank = NULL;

    for (size_t i = 0; NULL == rank && i < sizeof names / sizeof names[0]; ++i) {
        rank = getenv(names[i]);
    }
    return (NULL == rank || 0 == strcmp(rank, "0")) &&
           (NULL == verbose || 0 != strcmp(verbose, "0"));
}

/*
 * Is it a string to Open MPI?  Choices, for one message of ours: Open MPI's own for its
 * enumerations comes garbled.  Fractions, because Open MPI does not read numbers with a point.
 */
static bool is_text(const arc_param_t *param)
{
    return ARC_PARAM_KIND_CHOICE == param->kind || ARC_PARAM_KIND_FRACTION == param->kind ||
           ARC_PARAM_KIND_TEXT == param->kind;
}

static void register_one(arc_component_t *component, size_t index)
{
    static const mca_base_var_type_t types[] = {
        [ARC_PARAM_KIND_INT] = MCA_BASE_VAR_TYPE_INT,
        [ARC_PARAM_KIND_SIZE] = MCA_BASE_VAR_TYPE_SIZE_T,
        [ARC_PARAM_KIND_BOOL] = MCA_BASE_VAR_TYPE_BOOL,
        [ARC_PARAM_KIND_CHOICE] = MCA_BASE_VAR_TYPE_STRING,
        [ARC_PARAM_KIND_FRACTION] = MCA_BASE_VAR_TYPE_STRING,
        [ARC_PARAM_KIND_TEXT] = MCA_BASE_VAR_TYPE_STRING,
    };
    static_assert(sizeof types / sizeof types[0] == ARC_PARAM_KINDS, "a type for each kind");
    const arc_param_t *param = &component->params[index];
    void *field = (char *) component->config + param->offset;
    char allowed[TEXT_BYTES];
    char help[HELP_BYTES];
    char initial[TEXT_BYTES];

    arc_param_set(param, component->config, param->default_value);
    if (is_text(param)) {
        /* Open MPI makes a copy of its own. */
        arc_param_print(param, param->default_value, initial, sizeof initial);
        component->param_text[index] = ARC_PARAM_KIND_TEXT == param->kind ? NULL : initial;
        field = &component->param_text[index];
    }
    arc_param_describe(param, allowed, sizeof allowed);
    snprintf(help, sizeof help, "%s Allowed: %s.", param->help, allowed);
    /*
     * Of a parameter of both components Open MPI fills the field of each as that component
     * registers it, and shows the later one; both say the same.
     */
    const mca_base_component_t *self = &component->super.collm_version;
    const bool of_both = arc_param_of_both(param->name);
    const int variable = mca_base_var_register(
        self->mca_project_name, self->mca_type_name,
        of_both ? ARC_PARAM_BOTH : self->mca_component_name,
        param->name + (of_both ? sizeof ARC_PARAM_BOTH : 0), help, types[param->kind], NULL, 0,
        MCA_BASE_VAR_FLAG_DWG, (mca_base_var_info_lvl_t) (param->level - 1),
        MCA_BASE_VAR_SCOPE_READONLY, field);
    const mca_base_var_t *found = NULL;
    const bool set = variable >= 0 && OPAL_SUCCESS == mca_base_var_get(variable, &found) &&
                     MCA_BASE_VAR_SOURCE_DEFAULT != found->mbv_source;
    component->param_set[index] = set;
    if (variable < 0 || !is_text(param)) {
        const bool in_file = set && (MCA_BASE_VAR_SOURCE_FILE == found->mbv_source ||
                                     MCA_BASE_VAR_SOURCE_OVERRIDE == found->mbv_source);
        const mca_base_var_file_value_t *line = in_file ? found->mbv_file_value : NULL;
        component->param_text[index] = NULL != line ? line->mbvfv_value
                                       : set        ? environment_value(component, param->name)
                                                    : NULL;
    }
}

/* Take what the user wrote, if it can be used. */
static bool take_value(arc_component_t *component, size_t index)
{
    const arc_param_t *param = &component->params[index];
    const char *text = component->param_text[index];
    long long value = arc_param_get(param, component->config);

    if (ARC_PARAM_KIND_TEXT == param->kind) {
        *(const char **) ((char *) component->config + param->offset) = NULL == text ? "" : text;
        return true;
    }
    if (NULL != text && ARC_OK != arc_param_parse(param, text, &value)) {
        return false;
    }
    if (!arc_param_in_range(param, value)) {
        return false;
    }
    arc_param_set(param, component->config, value);
    return true;
}

void mca_params_register(arc_component_t *component)
{
    for (size_t i = 0; NULL != component->params[i].name; ++i) {
        const arc_param_t *param = &component->params[i];
        register_one(component, i);
        component->param_refused[i] = !take_value(component, i);
        if (component->param_refused[i]) {
            arc_param_set(param, component->config, param->default_value);
        }
    }
}

/* Open MPI says nothing of a parameter that nobody has: one that was misspelt, or renamed. */
static void complain_of_unknown(const arc_component_t *component, const char *of)
{
    char begin[NAME_BYTES];
    char name[NAME_BYTES];
    int variable = 0;

    const int used = snprintf(begin, sizeof begin, "%scoll_%s_", prefix, of);
    for (char **entry = environ; NULL != entry && NULL != *entry; ++entry) {
        if (0 != strncmp(*entry, begin, (size_t) used)) {
            continue;
        }
        const char *text = *entry + sizeof prefix - 1;
        (void) snprintf(name, sizeof name, "%.*s", (int) strcspn(text, "="), text);
        if (OPAL_SUCCESS != mca_base_var_find_by_name(name, &variable) &&
            *component->verbose >= ARC_LOG_WARN) {
            opal_output(0,
                        "coll_%s: there is no parameter %s, so it changes nothing; \"ompi_info "
                        "--param coll %s --level 9\" lists those that there are.",
                        arc_component_name(component), name, of);
        }
    }
}

void mca_params_complain(const arc_component_t *component)
{
    for (size_t i = 0; NULL != component->params[i].name; ++i) {
        const arc_param_t *param = &component->params[i];
        char allowed[TEXT_BYTES];
        char used[NAME_BYTES];
        char name[NAME_BYTES];

        if (!component->param_refused[i]) {
            continue;
        }
        const char *text = component->param_text[i]; /* NULL: set by another name of Open MPI's */
        arc_param_describe(param, allowed, sizeof allowed);
        arc_param_print(param, param->default_value, used, sizeof used);
        arc_param_name(arc_component_name(component), param->name, name, sizeof name);
        opal_output(0,
                    "coll_%s: the value \"%s\" of parameter %s cannot be used; it must be %s. "
                    "Using the default, %s.",
                    arc_component_name(component), NULL != text ? text : "(unknown)", name, allowed,
                    used);
    }
    complain_of_unknown(component, arc_component_name(component));
    complain_of_unknown(component, ARC_PARAM_BOTH);
}

uint64_t arc_component_hash(const arc_component_t *component, const void *config)
{
    /* Another version may do something else with the same parameters. */
    const mca_base_component_t *self = &component->super.collm_version;
    const uint64_t version = (uint64_t) self->mca_component_major_version << 48 |
                             (uint64_t) self->mca_component_minor_version << 40 |
                             (uint64_t) self->mca_component_release_version << 32;

    return version ^ arc_param_hash(component->params, config);
}

bool arc_component_param_set(const arc_component_t *component, const char *name)
{
    for (size_t i = 0; NULL != component->params[i].name; ++i) {
        if (0 == strcmp(component->params[i].name, name)) {
            return component->param_set[i];
        }
    }
    return false;
}
