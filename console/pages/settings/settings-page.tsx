import { changeByApi, getBody, requestApi, withQuery } from '../../core/api.ts'
import { may } from '../../core/me.ts'
import { type Resource, usePages, useResource } from '../../core/resource.ts'
import { query } from '../../core/router.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { matchesSearch, Search } from '../../parts/filters.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Loaded, PagedRows } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { Moment, VariableName } from '../../parts/text.tsx'
import type { ShownSetting, ShownSettingChange, ShownSettings } from './setting.ts'
import { SettingRow } from './setting-row.tsx'

const tabs = [
  ['settings', 'Settings'],
  ['history', 'Changes'],
] as const

export function SettingsPage() {
  const of = useResource((signal) => getBody('/admin/settings', signal), 'all')
  return (
    <Page
      title="Settings"
      about="Settings that can be changed without a restart. Every replica applies them within seconds; variables set in the environment are locked."
    >
      <Tabs label="Settings" tabs={tabs} />
      {currentTab({ tabs }) === 'history' ? (
        <SettingHistory onRevert={of.set} />
      ) : (
        <>
          <search class="filters">
            <Search label="Search settings" placeholder="Search by name, value or description" />
          </search>
          <Loaded of={of} lines={12}>
            {({ settings }) => <Groups settings={settings.filter(isWanted)} of={of} />}
          </Loaded>
        </>
      )}
    </Page>
  )
}

function isWanted({ name, group, value, description }: ShownSetting): boolean {
  return matchesSearch([name, group, value ?? '', description])
}

/** A link from the configuration page names a setting. */
function Groups({ settings, of }: { settings: ShownSetting[]; of: Resource<ShownSettings> }) {
  if (settings.length === 0) {
    return <Empty title="No matching settings">Search for another word.</Empty>
  }
  const named = query.value.get('name')
  const groups = Map.groupBy(settings, ({ group }) => group)
  return (
    <>
      {[...groups].map(([group, members]) => (
        <Card key={group} title={group}>
          <ul class="settings">
            {members.map((setting) => (
              <SettingRow
                key={setting.name}
                setting={setting}
                isNamed={setting.name === named}
                onChange={of.set}
              />
            ))}
          </ul>
        </Card>
      ))}
    </>
  )
}

/** Every change with its previous value, which can be restored. */
function SettingHistory({ onRevert }: { onRevert: (settings: ShownSettings) => void }) {
  const pages = usePages(async (before, signal) => {
    const path = withQuery('/admin/settings/history', { before, limit: 50 })
    const { changes, next } = (await requestApi(path, { signal })).body
    return { items: changes, next: next === null ? undefined : String(next) }
  }, 'all')
  const revert = async ({ id, name }: ShownSettingChange) => {
    onRevert(
      await changeByApi('POST', `/admin/settings/history/${encodeURIComponent(id)}/revert`, {}),
    )
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
