#include <stdlib.h>

#include "base/array.h"
#include "site/export_layout.h"

static void clear_format (export_format_t *format)
{
    free (format->date);
    free (format->point);
    free (format->thousands);
    free (format->absent);
}

static void clear_column (export_column_t *column)
{
    free (column->heading);
    free (column->value);
    free (column->separator);
    free (column->otherwise);
    free (column->pad);
    texts_clear (&column->fields);
    texts_clear (&column->map);
    clear_format (&column->format);
}

static void clear_filter (export_filter_t *filter)
{
    free (filter->field);
    texts_clear (&filter->is);
    texts_clear (&filter->not );
}

void export_layout_free (export_layout_t *layout)
{
    if (!layout)
        return;
    GL_FREE_EACH (layout->filters, layout->filter_count, it, clear_filter (it));
    GL_FREE_EACH (layout->first, layout->first_count, it, clear_column (it));
    GL_FREE_EACH (layout->columns, layout->column_count, it, clear_column (it));
    GL_FREE_EACH (layout->trailer, layout->trailer_count, it,
                  clear_column (it));
    texts_clear (&layout->group);
    texts_clear (&layout->sort);
    clear_format (&layout->format);
    free (layout->delimiter);
    free (layout->file);
    free (layout);
}
