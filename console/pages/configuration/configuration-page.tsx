import { getBody } from '../../core/api.ts'
import { pageUrl } from '../../core/base.ts'
import { formatName } from '../../core/format.ts'
import { useResource } from '../../core/resource.ts'
import { query, setQuery } from '../../core/router.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { matchesSearch, Search } from '../../parts/filters.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { currentTab, Tabs } from '../../parts/tabs.tsx'
import { Badge, Description, type Tone, VariableName } from '../../parts/text.tsx'

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
  const of = useResource((signal) => getBody('/admin/config', signal), 'all')
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

const tones: Record<ShownVariable['source'], Tone> = {
  environment: 'link',
  settings: 'good',
  default: 'plain',
}

const columns: Column<ShownVariable>[] = [
  { title: 'Variable', kind: 'wrap', cell: (variable) => <Name variable={variable} /> },
  { title: 'Value', kind: 'wrap', cell: (variable) => <Value variable={variable} /> },
  {
    title: 'From',
    cell: ({ source }) => <Badge tone={tones[source]}>{formatName(source)}</Badge>,
  },
  { title: 'Default', kind: 'wrap', cell: (variable) => <Default variable={variable} /> },
]

function VariableTable({ label, variables }: { label: string; variables: ShownVariable[] }) {
  return (
    <Table label={label} columns={columns} rows={variables} getKey={({ name }) => name} isStacked />
  )
}

function Name({ variable: { name, description, changeable } }: { variable: ShownVariable }) {
  return (
    <>
      <VariableName name={name} />
      <div class="quiet small">
        <Description text={description} />
      </div>
      {changeable && (
        <a class="small" href={pageUrl(`/settings?name=${name}`)}>
          Change at run time
        </a>
      )}
    </>
  )
}

function Value({ variable: { value, secret, set } }: { variable: ShownVariable }) {
  if (secret) return <span class="quiet">{set ? 'secret, set' : 'secret, not set'}</span>
  return value ? <code>{value}</code> : <span class="quiet">not set</span>
}

function Default({ variable }: { variable: ShownVariable }) {
  return variable.default ? <code>{variable.default}</code> : <span class="quiet">–</span>
}

/** GET /admin/config. The value of a secret is never sent. */
interface ShownVariable {
  name: string
  group: string
  description: string
  type: string
  default: string | null
  value: string | null
  secret: boolean
  set: boolean
  source: 'environment' | 'settings' | 'default'
  changeable: boolean
  doc: string
}

interface Finding {
  check: string
  level: 'pass' | 'warn' | 'fail'
  sentence: string
}

const levels: Record<Finding['level'], { tone: Tone; text: string }> = {
  pass: { tone: 'good', text: 'Passed' },
  warn: { tone: 'warn', text: 'Warning' },
  fail: { tone: 'bad', text: 'Failed' },
}
const levelOrder = ['fail', 'warn', 'pass']

const findingColumns: Column<Finding>[] = [
  {
    title: 'Outcome',
    cell: ({ level }) => <Badge tone={levels[level].tone}>{levels[level].text}</Badge>,
  },
  { title: 'Check', cell: ({ check }) => check },
  { title: 'Finding', kind: 'wrap', cell: ({ sentence }) => sentence },
]

/** The checks of `npm run doctor` for the running server. */
function Doctor() {
  const of = useResource((signal) => getBody('/admin/doctor', signal), 'all')
  const again = (
    <Button compact busy={of.isLoading} onClick={of.reload}>
      Run again
    </Button>
  )
  return (
    <Card title="Checks of this server" flush actions={again}>
      <Loaded of={of} lines={10}>
        {({ passed, warnings, failed, results }) => (
          <>
            <p class="summary" role="status">
              {passed} passed, {warnings} warnings, {failed} failed
            </p>
            <Table
              label="Checks"
              columns={findingColumns}
              rows={results.toSorted(
                (a, b) => levelOrder.indexOf(a.level) - levelOrder.indexOf(b.level),
              )}
              getKey={({ check, sentence }) => check + sentence}
              isStacked
            />
          </>
        )}
      </Loaded>
    </Card>
  )
}
