#include "base/memory.h"
#include "ledger/bill.h"
#include "ledger/bill_idle.h"
#include "support/test.h"

static void parse (const char *text, posting_t *row)
{
    gl_error_t error;

    posting_init (row);
    if (posting_parse (text, strlen (text), row, &error) < 0)
        fail_msg ("%s: %s", text, error.text);
}

TEST_CASE (text_and_back__every_field__same_bytes)
{
    static const char text[]
        = "kind=correction\tmonth=2026-10\tpool=h100\tteam=a\\tb\tgpu=H100\t"
          "profile=1g.10gb\taccount=x\\\\y\tcluster=lab\tuser=u\tproject=p\t"
          "qos=q\tpartition_name=r\tgres_type=h100\twhat=late\treference=lab/1/2\t"
          "gpu_seconds=7/3\tprice_seconds=-2\texact=1/7\tlist=3\tcost=-4\t"
          "charge=5\torigin=idle:unused\treason=by hand\tbefore_units=6\tafter_units=11\t"
          "adjustment_qos=12\tadjustment_subsidy=-13\t"
          "adjustment_entitlement=-14\tadjustment_tier=-15\t"
          "adjustment_surcharge=16\tconsumed_seconds=17/2\tcpu_seconds=18\t"
          "counterparty=c\tcost_object=CC-1\tquantity=19\tunit=TB\t"
          "description=d\tservice_category=Storage";
    BUFFER_AUTO out = BUFFER_INIT;
    posting_t row;

    parse (text, &row);
    assert_string_equal (row.team, "a\tb");
    assert_string_equal (row.key[0], "x\\y");
    assert_int_equal (row.kind, BILL_CORRECTION);
    assert_int_equal (mpq_cmp_si (row.gpu_seconds, 7, 3), 0);
    posting_text (&row, &out);
    assert_string_equal (buffer_text (&out), text);
    posting_clear (&row);
}

TEST_CASE (entitlement__every_field__same_bytes)
{
    static const char text[]
        = "month=2026-10\tpool=h100\tteam=a\tbought=7/3\trollover_in=2\tused=3\t"
          "used_reserved=4\tunused=5\trollover_out=6\texpired=7\tprice=18/5\t"
          "amount=8\tfee=9/2\tfee_due=10\tvalue_in=11\tvalue_used=12\t"
          "value_reserved=13\tvalue_out=14\tvalue_expired=15/4";
    bill_t *bill = bill_new ();
    bill_entitlement_t *read = bill_append (bill, BILL_ENTITLEMENTS);
    BUFFER_AUTO out = BUFFER_INIT;
    gl_error_t error;
    size_t count;

    assert_int_equal (
        fields_parse (&bill_fields[BILL_ENTITLEMENTS], text, strlen (text), read, &error), 0);
    fields_text (&bill_fields[BILL_ENTITLEMENTS], bill_entitlements (bill, &count), &out);
    assert_string_equal (buffer_text (&out), text);
    assert_int_equal (count, 1);
    bill_free (bill);
}

/* One of a month that was closed before funds were named, too. */
TEST_CASE (cost__with_and_without_fund__same_bytes)
{
    static const char *const texts[] = {
        "kind=hardware\tmonth=2026-10\tpool=h100\tname=a\thow=1 x 2\tamount=7/3"
        "\tunits=233",
        "kind=hardware\tmonth=2026-10\tpool=h100\tname=a\thow=1 x 2\tamount=7/3"
        "\tunits=233\tfund=federal",
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        bill_t *bill = bill_new ();
        BUFFER_AUTO out = BUFFER_INIT;
        gl_error_t error;
        size_t count;
        assert_int_equal (fields_parse (&bill_fields[BILL_COSTS], texts[i], strlen (texts[i]),
                                           bill_append (bill, BILL_COSTS), &error),
                          0);
        fields_text (&bill_fields[BILL_COSTS], bill_costs (bill, &count), &out);
        assert_string_equal (buffer_text (&out), texts[i]);
        bill_free (bill);
    }
}

TEST_CASE (parse__not_what_is_written__refused)
{
    static const char *const wrong[] = {
        "",
        "month=2026-10",
        "kind=bribe",
        "kind=charge\tpool=a\tmonth=2026-10",
        "kind=charge\tpool=a\tpool=b",
        "kind=charge\tcolour=red",
        "kind=charge\tcharge=05",
        "kind=charge\tcharge=0",
        "kind=charge\texact=2/4",
        "kind=charge\texact=1/0",
        "kind=charge\texact=0/1",
        "kind=charge\tpool=a\\x",
        "kind=charge\tpool=a\\",
        "kind=charge\t",
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (wrong); i++) {
        gl_error_t error = {{0}};
        posting_t row;
        posting_init (&row);
        if (posting_parse (wrong[i], strlen (wrong[i]), &row, &error) == 0)
            fail_msg ("accepted: %s", wrong[i]);
        assert_true (error.text[0] != '\0');
        posting_clear (&row);
    }
}

TEST_CASE (sort__mixed_rows__by_month_pool_kind_team)
{
    static const char *const texts[] = {
        "kind=charge\tmonth=2026-10\tpool=a",
        "kind=charge\tmonth=2026-10\tpool=a\tteam=x",
        "kind=charge\tmonth=2026-10\tpool=a\tteam=x\taccount=b",
        "kind=credit\tmonth=2026-10\tpool=a",
        "kind=remainder\tmonth=2026-10\tpool=a\twhat=idle",
        "kind=charge\tmonth=2026-10\tpool=b",
        "kind=charge\tmonth=2026-11\tpool=a",
    };
    bill_t *bill = bill_new ();
    const posting_t *rows;
    size_t count;

    for (size_t i = GL_ARRAY_SIZE (texts); i-- > 0;) {
        posting_t row;
        parse (texts[i], &row);
        bill_add_copy (bill, &row);
        posting_clear (&row);
    }
    bill_sort (bill);
    rows = postings (bill, &count);
    assert_int_equal (count, GL_ARRAY_SIZE (texts));
    for (size_t i = 0; i < count; i++) {
        BUFFER_AUTO out = BUFFER_INIT;
        posting_text (&rows[i], &out);
        assert_string_equal (buffer_text (&out), texts[i]);
    }
    bill_free (bill);
}

/* Rows that share texts, and rows with texts of their own, in one bill. */
TEST_CASE (append_values__sorted_and_forgotten__as_rows_of_their_own)
{
    static const char *const credit[]
        = {"credit", "2026-10", "b", "vision", NULL, NULL, "lab"};
    static const char *const charge[]
        = {"charge", "2026-10", "a", "vision", NULL, NULL, "lab"};
    static const char *const wrong[] = {"gift", "2026-10"};
    const fields_t *fields = &bill_fields[BILL_POSTINGS];
    bill_t *bill = bill_new ();
    const posting_t *rows;
    size_t count;

    bill_reserve (bill, BILL_POSTINGS, 2);
    assert_true (bill_append_values (bill, BILL_POSTINGS, fields, credit, 7));
    bill_add (bill)->team = xstrdup ("atlas");
    assert_true (bill_append_values (bill, BILL_POSTINGS, fields, charge, 7));
    assert_true (bill_append_values (bill, BILL_POSTINGS, fields, charge, 7));
    rows = postings (bill, &count);
    assert_int_equal (count, 4);
    assert_ptr_equal (rows[0].team, rows[2].team);
    bill_sort (bill);
    rows = postings (bill, &count);
    assert_string_equal (rows[0].team, "atlas"); /* of no month */
    assert_string_equal (rows[3].pool, "b");
    bill_forget_charges (bill);
    rows = postings (bill, &count);
    assert_int_equal (count, 1);
    assert_string_equal (rows[0].key[0], "lab");
    assert_false (bill_append_values (bill, BILL_POSTINGS, fields, wrong, 2));
    bill_free (bill);
}

/* What nobody was charged has no team, but is not what "no team" has to pay. */
TEST_CASE (row_of__corrected_remainder__nobodys)
{
    static const struct {
        const char *text;
        bool nobodys;
    } rows[] = {
        {"kind=charge\tcharge=1", false},
        {"kind=remainder\twhat=idle\tcharge=1", true},
        {"kind=correction\tcharge=1\torigin=remainder:recovery", true},
        {"kind=correction\tcharge=1\torigin=charge", false},
        {"kind=correction\tcharge=1\treason=by hand", false},
    };

    for (size_t i = 0; i < sizeof (rows) / sizeof (rows[0]); i++) {
        posting_t row;
        parse (rows[i].text, &row);
        assert_int_equal (posting_is_due (&row), !rows[i].nobodys);
        assert_int_equal (posting_of (&row, NULL), !rows[i].nobodys);
        assert_false (posting_of (&row, "vision"));
        posting_clear (&row);
    }
}

TEST_MAIN (NULL, NULL)
