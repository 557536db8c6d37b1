/*
 * A parameter table as Open MPI variables.
 *
 * Open MPI's own conversion takes "abc" as 0, "1e6" as 1 and "-5" as a huge
 * size, all without a word.  A value from the environment, which is where
 * `mpirun --mca` puts it, is therefore parsed once more, strictly.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include "mca_params.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 128, TEXT_BYTES = 256 };

static const char *name_of(const arc_component_t *component)
{
    return component->super.collm_version.mca_component_name;
}

/* What the environment says about a parameter, or NULL. */
static const char *environment_value(const arc_component_t *component, const arc_param_t *param)
{
    char variable[NAME_BYTES];
    snprintf(variable, sizeof variable, "OMPI_MCA_coll_%s_%s", name_of(component), param->name);
    return getenv(variable);
}

/* Open MPI's description of the choices; NULL for other kinds. */
static mca_base_var_enum_t *create_enum(const arc_param_t *param)
{
    enum { MAX_CHOICES = 32 };
    mca_base_var_enum_value_t values[MAX_CHOICES] = {{0, NULL}};
    mca_base_var_enum_t *choices = NULL;

    if (ARC_PARAM_KIND_CHOICE != param->kind) {
        return NULL;
    }
    for (int choice = 0; NULL != param->choices[choice] && choice < MAX_CHOICES - 1; ++choice) {
        values[choice].value = choice;
        values[choice].string = param->choices[choice];
    }
    (void) mca_base_var_enum_create(param->name, values, &choices);
    return choices;
}

static void register_one(arc_component_t *component, const arc_param_t *param)
{
    static const mca_base_var_type_t types[] = {
        [ARC_PARAM_KIND_INT] = MCA_BASE_VAR_TYPE_INT,
        [ARC_PARAM_KIND_SIZE] = MCA_BASE_VAR_TYPE_SIZE_T,
        [ARC_PARAM_KIND_BOOL] = MCA_BASE_VAR_TYPE_BOOL,
        [ARC_PARAM_KIND_CHOICE] = MCA_BASE_VAR_TYPE_INT,
    };
    void *field = (char *) component->config + param->offset;
    mca_base_var_enum_t *choices = create_enum(param);

    arc_param_set(param, component->config, param->default_value);
    /* A value that is not a choice: Open MPI says so itself and leaves the default. */
    (void) mca_base_component_var_register(
        &component->super.collm_version, param->name, param->help, types[param->kind], choices, 0,
        0, (mca_base_var_info_lvl_t) (param->level - 1), MCA_BASE_VAR_SCOPE_READONLY, field);
    if (NULL != choices) {
        OBJ_RELEASE(choices);
    }
}

/* Can what the user wrote be used? */
static bool value_is_good(const arc_component_t *component, const arc_param_t *param)
{
    const char *text = environment_value(component, param);
    long long value = 0;

    if (ARC_PARAM_KIND_CHOICE != param->kind && NULL != text &&
        ARC_OK != arc_param_parse(param, text, &value)) {
        return false;
    }
    return arc_param_in_range(param, arc_param_get(param, component->config));
}

void mca_params_register(arc_component_t *component)
{
    for (size_t i = 0; i < component->params_count; ++i) {
        const arc_param_t *param = &component->params[i];
        register_one(component, param);
        component->param_refused[i] = !value_is_good(component, param);
        if (component->param_refused[i]) {
            arc_param_set(param, component->config, param->default_value);
        }
    }
}

void mca_params_complain(const arc_component_t *component)
{
    for (size_t i = 0; i < component->params_count; ++i) {
        const arc_param_t *param = &component->params[i];
        char allowed[TEXT_BYTES];
        char used[NAME_BYTES];

        if (!component->param_refused[i]) {
            continue;
        }
        const char *text = environment_value(component, param);
        arc_param_describe(param, allowed, sizeof allowed);
        arc_param_print(param, param->default_value, used, sizeof used);
        opal_output(0,
                    "coll_%s: the value \"%s\" of parameter coll_%s_%s cannot be used; it must "
                    "be %s. Using the default, %s.",
                    name_of(component), NULL != text ? text : "(from a file)", name_of(component),
                    param->name, allowed, used);
    }
}
