/*
 * Parameters: what is accepted, what is refused, what is printed, and that both
 * components' tables are sound.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#include "config.h"

#include <fenv.h>
#include <locale.h>
#include <sys/stat.h>

#include "unit.h"
#include "lowlat_select.h"
#include "quant_settings.h"

enum { TEXT_BYTES = 256, RANDOM_BYTES = 6 /* mkdtemp()'s */ };

static const char *const fruits[] = {"apple", "pear", NULL};
static const arc_param_t number = {
    .name = "n", .kind = ARC_PARAM_KIND_INT, .minimum = -1, .maximum = 100};
static const arc_param_t size = {
    .name = "s", .kind = ARC_PARAM_KIND_SIZE, .minimum = 8, .maximum = 1LL << 40};
static const arc_param_t flag = {.name = "b", .kind = ARC_PARAM_KIND_BOOL, .maximum = 1};
static const arc_param_t fruit = {
    .name = "c", .kind = ARC_PARAM_KIND_CHOICE, .maximum = 1, .choices = fruits};

static const arc_param_t part = {
    .name = "f", .kind = ARC_PARAM_KIND_FRACTION, .maximum = ARC_PARAM_FRACTION_ONE};
static const arc_param_t above = {
    .name = "l", .kind = ARC_PARAM_KIND_FRACTION, .maximum = ARC_PARAM_NUMBER_LARGEST};

static const struct {
    const arc_param_t *param;
    const char *text;
    arc_status_t status;
    long long value;
} parse_cases[] = {
    {&number, "40", ARC_OK, 40},
    {&number, "-1", ARC_OK, -1},
    {&number, "0x10", ARC_OK, 16},
    {&number, "101", ARC_ERR_INVALID, 0},
    {&number, "-2", ARC_ERR_INVALID, 0},
    {&number, "1k", ARC_ERR_INVALID, 0},
    {&number, "", ARC_ERR_INVALID, 0},
    {&number, "ten", ARC_ERR_INVALID, 0},
    {&number, "99999999999999999999", ARC_ERR_INVALID, 0},
    {&size, "64k", ARC_OK, 65536},
    {&size, "64KB", ARC_OK, 65536},
    {&size, "1M", ARC_OK, 1048576},
    {&size, "1g", ARC_OK, 1073741824},
    {&size, "8", ARC_OK, 8},
    {&size, "7", ARC_ERR_INVALID, 0},
    {&size, "-5", ARC_ERR_INVALID, 0},
    {&size, "1e6", ARC_ERR_INVALID, 0},
    {&size, "abc", ARC_ERR_INVALID, 0},
    {&size, "64kx", ARC_ERR_INVALID, 0},
    {&size, "9000000000000g", ARC_ERR_INVALID, 0},
    {&flag, "1", ARC_OK, 1},
    {&flag, "Off", ARC_OK, 0},
    {&flag, "yes", ARC_OK, 1},
    {&flag, "2", ARC_ERR_INVALID, 0},
    {&fruit, "Pear", ARC_OK, 1},
    {&fruit, "0", ARC_ERR_INVALID, 0},
    {&fruit, "plum", ARC_ERR_INVALID, 0},
    {&fruit, "2", ARC_ERR_INVALID, 0},
    {&part, "0", ARC_OK, 0},
    {&part, "1", ARC_OK, ARC_PARAM_FRACTION_ONE},
    {&part, "0.001", ARC_OK, 0x3f50624dd2f1a9fcLL},
    {&part, "1.0001", ARC_ERR_INVALID, 0},
    {&part, "-1e-3", ARC_ERR_INVALID, 0},
    {&part, "-0", ARC_ERR_INVALID, 0},
    {&part, "nan", ARC_ERR_INVALID, 0},
    {&part, "inf", ARC_ERR_INVALID, 0},
    {&part, "1e-999", ARC_ERR_INVALID, 0},
    {&part, "1e-4x", ARC_ERR_INVALID, 0},
    {&part, "1e-4 ", ARC_ERR_INVALID, 0},
    {&part, "", ARC_ERR_INVALID, 0},
    {&above, "2", ARC_OK, 0x4000000000000000LL},
    {&above, "3.4028234663852886e38", ARC_OK, ARC_PARAM_NUMBER_LARGEST},
    {&above, "3.403e38", ARC_ERR_INVALID, 0},
    {&above, "-2", ARC_ERR_INVALID, 0},
    {&above, "inf", ARC_ERR_INVALID, 0},
    {&part, "low", ARC_ERR_INVALID, 0},
};

TEST(parses_what_is_meant_and_nothing_else)
{
    for (size_t i = 0; i < sizeof parse_cases / sizeof parse_cases[0]; ++i) {
        const long long untouched = 12345;
        long long value = untouched;
        assert_int_equal(parse_cases[i].status,
                         arc_param_parse(parse_cases[i].param, parse_cases[i].text, &value));
        assert_int_equal(ARC_OK == parse_cases[i].status ? parse_cases[i].value : untouched, value);
    }
}

TEST(says_what_is_allowed)
{
    char text[TEXT_BYTES];

    arc_param_describe(&fruit, text, sizeof text);
    assert_string_equal("one of apple, pear", text);
    arc_param_describe(&number, text, sizeof text);
    assert_string_equal("a number from -1 to 100", text);
    arc_param_describe(&size, text, sizeof text);
    assert_string_equal("a size in bytes (suffix k, m or g allowed) from 8 to 1024g", text);
    arc_param_describe(&part, text, sizeof text);
    assert_string_equal("a number from 0 to 1", text);
}

TEST(a_fraction_is_stored_as_the_double_that_was_written)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {{"1e-4", 1e-4}, {"0.25", 0.25}, {"1", 1}, {"0.0", 0}, {"1.5e-300", 1.5e-300}};
    double stored = -1;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char text[TEXT_BYTES];
        long long value = 0;
        assert_int_equal(ARC_OK, arc_param_parse(&part, rows[i].text, &value));
        arc_param_set(&part, &stored, value);
        assert_memory_equal(&rows[i].value, &stored, sizeof stored);
        assert_int_equal(value, arc_param_get(&part, &stored));
        arc_param_print(&part, value, text, sizeof text);
        assert_true(strtod(text, NULL) == rows[i].value);
    }
}

/* 1/10 is between two doubles, and strtod() rounds as the program does. */
TEST(a_fraction_is_the_same_however_the_program_rounds)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    long long usual = 0;

    assert_int_equal(ARC_OK, arc_param_parse(&part, "0.1", &usual));
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
        long long value = 0;
        assert_int_equal(0, fesetround(modes[i]));
        const arc_status_t status = arc_param_parse(&part, "0.1", &value);
        const int mode = fegetround();
        assert_int_equal(0, fesetround(FE_TONEAREST));
        assert_int_equal(modes[i], mode);
        assert_int_equal(ARC_OK, status);
        assert_true(usual == value);
    }
}

/* A locale with a comma in fractions is there: LC_NUMERIC of de_DE as localedef compiles it. */
static bool make_locale_with_comma(const char *root)
{
    static const uint32_t heads[] = {0x20031114, 6, 32, 34, 36, 40, 44, 48};
    static const char texts[] = ",\0.\0\3\3\0\0,\0\0\0.\0\0\0UTF-8";
    char name[TEXT_BYTES];

    (void) snprintf(name, sizeof name, "%s/comma", root);
    assert_int_equal(0, mkdir(name, S_IRWXU));
    (void) snprintf(name, sizeof name, "%s/comma/LC_NUMERIC", root);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(1, fwrite(heads, sizeof heads, 1, file));
    assert_int_equal(1, fwrite(texts, sizeof texts, 1, file));
    assert_int_equal(0, fclose(file));
    assert_int_equal(0, setenv("LOCPATH", root, 1));
    const bool is_there = NULL != setlocale(LC_NUMERIC, "comma");
    assert_int_equal(0, remove(name));
    *strrchr(name, '/') = '\0';
    assert_int_equal(0, remove(name));
    assert_int_equal(0, remove(root));
    return is_there;
}

TEST(a_fraction_has_a_point_in_all_locales)
{
    char root[] = "/tmp/test_param.??????";
    char text[TEXT_BYTES];
    long long value = 0;

    memset(strchr(root, '?'), 'X', RANDOM_BYTES);
    assert_non_null(mkdtemp(root));
    if (!make_locale_with_comma(root)) {
        print_message("# this C library does not take the locale\n");
        skip();
    }
    assert_string_equal(",", localeconv()->decimal_point);
    const arc_status_t with_point = arc_param_parse(&part, "0.5", &value);
    const arc_status_t with_comma = arc_param_parse(&part, "0,5", &value);
    arc_param_print(&part, value, text, sizeof text);
    assert_string_equal(",", localeconv()->decimal_point);
    assert_non_null(setlocale(LC_NUMERIC, "C"));
    assert_int_equal(ARC_OK, with_point);
    assert_int_equal(ARC_ERR_INVALID, with_comma);
    assert_string_equal("0.5", text);
}

TEST(prints_sizes_as_users_write_them)
{
    char text[TEXT_BYTES];

    arc_param_print(&size, 65536, text, sizeof text);
    assert_string_equal("64k", text);
    arc_param_print(&size, 1000, text, sizeof text);
    assert_string_equal("1000", text);
    arc_param_print(&flag, 1, text, sizeof text);
    assert_string_equal("true", text);
    arc_param_print(&fruit, 1, text, sizeof text);
    assert_string_equal("pear", text);
}

TEST(a_parameter_of_both_components_has_the_name_of_neither)
{
    char text[TEXT_BYTES];

    arc_param_name("lowlat", "timeout", text, sizeof text);
    assert_string_equal("coll_lowlat_timeout", text);
    arc_param_name("lowlat", "arc_timeout", text, sizeof text);
    assert_string_equal("coll_arc_timeout", text);
    assert_false(arc_param_of_both("arctic"));
}

/* Every row: a default in range, a help text, a level that exists, a field that can be written. */
static void check_table(const arc_param_t *params, void *config)
{
    for (size_t i = 0; NULL != params[i].name; ++i) {
        const arc_param_t *param = &params[i];
        char text[TEXT_BYTES];
        long long parsed = 0;

        assert_true(arc_param_in_range(param, param->default_value));
        assert_true(strlen(param->help) > 20);
        assert_in_range(param->level, 1, 9);
        arc_param_print(param, param->default_value, text, sizeof text);
        assert_int_equal(ARC_OK, arc_param_parse(param, text, &parsed));
        assert_int_equal(param->default_value, parsed);
        arc_param_set(param, config, param->maximum);
        assert_int_equal(param->maximum, arc_param_get(param, config));
        arc_param_set(param, config, param->default_value);
        for (size_t other = 0; other < i; ++other) {
            assert_string_not_equal(params[other].name, param->name);
        }
    }
    /* The hash sees every shared field, and no local one. */
    const uint64_t hash = arc_param_hash(params, config);
    for (size_t i = 0; NULL != params[i].name; ++i) {
        const arc_param_t *param = &params[i];
        arc_param_set(param, config,
                      param->default_value == param->maximum ? param->minimum : param->maximum);
        if (param->minimum != param->maximum) {
            assert_int_equal(ARC_PARAM_SCOPE_LOCAL == param->scope,
                             hash == arc_param_hash(params, config));
        }
        arc_param_set(param, config, param->default_value);
    }
    assert_true(hash == arc_param_hash(params, config));
}

TEST(both_tables_are_sound)
{
    lowlat_config_t lowlat;
    quant_settings_t quant;

    memset(&lowlat, 0, sizeof lowlat);
    memset(&quant, 0, sizeof quant);
    check_table(lowlat_params, &lowlat);
    check_table(quant_params, &quant);
}
