import { getBody } from '../../core/api.ts'
import { type Resource, useResource } from '../../core/resource.ts'
import { query } from '../../core/router.ts'
import { Card } from '../../parts/card.tsx'
import { Page } from '../../parts/page.tsx'
import { matchesSearch, Search } from '../../parts/search.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { SettingHistory } from './history.tsx'
import type { ShownSetting, ShownSettings } from './setting.ts'
import { SettingRow } from './setting-row.tsx'

const tabs = [
  ['settings', 'Settings'],
  ['history', 'Changes'],
] as const

export function SettingsPage() {
  const of = useResource((signal) => getBody<ShownSettings>('/admin/settings', signal), 'all')
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
