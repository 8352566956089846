import { getBody } from '../../core/api.ts'
import { useResource } from '../../core/resource.ts'
import { query, setQuery } from '../../core/router.ts'
import { Card } from '../../parts/card.tsx'
import { Page } from '../../parts/page.tsx'
import { matchesSearch, Search } from '../../parts/search.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { Doctor } from './doctor.tsx'
import type { ShownVariable } from './variable.ts'
import { VariableTable } from './variable-table.tsx'

const tabs = [
  ['variables', 'Variables'],
  ['doctor', 'Doctor'],
] as const

export function ConfigurationPage() {
  return (
    <Page
      title="Configuration"
      about="The configuration of this server, and the source of each value."
    >
      <Tabs label="Configuration" tabs={tabs} />
      {currentTab({ tabs }) === 'doctor' ? <Doctor /> : <Variables />}
    </Page>
  )
}

function Variables() {
  const of = useResource(
    (signal) => getBody<{ variables: ShownVariable[] }>('/admin/config', signal),
    'all',
  )
  const onlySet = query.value.get('set') === 'yes'
  return (
    <>
      <search class="filters">
        <Search label="Search variables" placeholder="Search by name, value or description" />
        <label class="choice">
          <input
            type="checkbox"
            checked={onlySet}
            onChange={(event) => setQuery({ set: event.currentTarget.checked ? 'yes' : '' })}
          />
          <span>Only variables that are set</span>
        </label>
      </search>
      <Loaded of={of} lines={12}>
        {({ variables }) => <Groups variables={variables.filter(isWanted(onlySet))} />}
      </Loaded>
    </>
  )
}

function isWanted(onlySet: boolean) {
  return ({ name, value, description, set }: ShownVariable) =>
    (set || !onlySet) && matchesSearch([name, value ?? '', description])
}

function Groups({ variables }: { variables: ShownVariable[] }) {
  if (variables.length === 0) {
    return <Empty title="No matching variables">Search for another word.</Empty>
  }
  const groups = Map.groupBy(variables, ({ group }) => group)
  return (
    <>
      {[...groups].map(([group, members]) => (
        <Card key={group} title={group} flush>
          <VariableTable label={group} variables={members} />
        </Card>
      ))}
    </>
  )
}
