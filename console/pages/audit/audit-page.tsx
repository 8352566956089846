import { download, withQuery } from '../../core/api.ts'
import { type AuditFilters, listAudit } from '../../core/audit.ts'
import { may } from '../../core/me.ts'
import { usePages } from '../../core/resource.ts'
import { query } from '../../core/router.ts'
import { showError } from '../../core/toasts.ts'
import { AuditTable } from '../../parts/audit-table.tsx'
import { Card } from '../../parts/card.tsx'
import { FilterField } from '../../parts/filters.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Page } from '../../parts/page.tsx'
import { PagedRows } from '../../parts/states.tsx'

export function AuditPage() {
  const filters = readFilters()
  const pages = usePages(
    (cursor, signal) => listAudit(filters, cursor, signal),
    JSON.stringify(filters),
  )
  return (
    <Page
      title="Audit log"
      about="Actions of users and admins, newest first."
      actions={<ExportMenu filters={filters} />}
    >
      <Filters />
      <Card title="Entries" flush>
        <PagedRows
          pages={pages}
          empty={{
            title: 'No entries',
            text: 'Nothing was recorded, or no entry matches the filters.',
          }}
        >
          {(entries) => <AuditTable entries={entries} />}
        </PagedRows>
      </Card>
    </Page>
  )
}

/** The API takes `author:text`, and times instead of days. */
function readFilters(): AuditFilters {
  const of = (name: string) => query.value.get(name) ?? undefined
  return {
    query: of('author') && `author:${of('author')}`,
    action: of('action'),
    user_id: of('user'),
    from: of('from') && `${of('from')}T00:00:00Z`,
    to: of('to') && `${of('to')}T23:59:59.999Z`,
  }
}

const texts = [
  ['author', 'By', 'Email'],
  ['action', 'Action', 'user_deleted'],
  ['user', 'User', 'User id'],
] as const

const days = [
  ['from', 'From'],
  ['to', 'Until'],
] as const

function Filters() {
  return (
    <search class="columns narrow">
      {texts.map(([name, label, placeholder]) => (
        <FilterField key={name} name={name} label={label} placeholder={placeholder} />
      ))}
      {days.map(([name, label]) => (
        <FilterField key={name} name={name} label={label} type="date" />
      ))}
    </search>
  )
}

function ExportMenu({ filters }: { filters: AuditFilters }) {
  const run = (format: string) =>
    download(withQuery('/admin/audit/export', { ...filters, format }), `audit.${format}`)
  return (
    <Menu label="Export">
      {['csv', 'ndjson'].map((format) => (
        <button
          key={format}
          type="button"
          disabled={!may('GET /admin/audit/export')}
          onClick={() => run(format).catch(showError)}
        >
          As {format.toUpperCase()}
        </button>
      ))}
    </Menu>
  )
}
