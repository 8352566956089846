import { changeByApi, requestApi, withQuery } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { usePages } from '../../core/pages.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { PagedRows } from '../../parts/paged-rows.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Moment, VariableName } from '../../parts/text.tsx'
import type { History, ShownSettingChange, ShownSettings } from './setting.ts'

/** Every change with its previous value, which can be restored. */
export function SettingHistory({ onRevert }: { onRevert: (settings: ShownSettings) => void }) {
  const pages = usePages(async (before, signal) => {
    const path = withQuery('/admin/settings/history', { before, limit: 50 })
    const { changes, next } = (await requestApi<History>(path, { signal })).body
    return { items: changes, next: next === null ? undefined : String(next) }
  }, 'all')
  const revert = async ({ id, name }: ShownSettingChange) => {
    onRevert(await changeByApi<ShownSettings>('POST', `/admin/settings/history/${id}/revert`, {}))
    showMessage(`${name} was restored`)
    pages.reload()
  }
  return (
    <Card title="Changes" flush>
      <PagedRows
        pages={pages}
        empty={{ title: 'No changes yet', text: 'Changes of settings are listed here.' }}
      >
        {(changes) => (
          <Table
            label="Changes of settings"
            columns={columnsFor(revert)}
            rows={changes}
            getKey={({ id }) => String(id)}
            isStacked
          />
        )}
      </PagedRows>
    </Card>
  )
}

function columnsFor(
  revert: (entry: ShownSettingChange) => Promise<void>,
): Column<ShownSettingChange>[] {
  return [
    { title: 'When', kind: 'nowrap', cell: ({ changed_at }) => <Moment at={changed_at} /> },
    { title: 'Setting', kind: 'wrap', cell: ({ name }) => <VariableName name={name} /> },
    { title: 'Before', kind: 'wrap', cell: ({ before, secret }) => shown(before, secret) },
    { title: 'After', kind: 'wrap', cell: ({ after, secret }) => shown(after, secret) },
    { title: 'By', kind: 'wrap', cell: ({ changed_by }) => changed_by ?? 'Service key' },
    {
      title: 'Actions',
      isUntitled: true,
      kind: 'end',
      cell: (entry) => (
        <Button
          compact
          disabled={!may('POST /admin/settings/history/{id}/revert')}
          label={`Revert ${entry.name}`}
          onClick={() => revert(entry)}
        >
          Revert
        </Button>
      ),
    },
  ]
}

function shown(value: string | null, isSecret: boolean) {
  if (isSecret) return <span class="quiet">secret</span>
  return value === null ? <span class="quiet">default</span> : <code>{value}</code>
}
