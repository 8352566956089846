import { pageUrl } from '../../core/base.ts'
import { formatName } from '../../core/format.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Description, type Tone, VariableName } from '../../parts/text.tsx'
import type { ShownVariable } from './variable.ts'

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

export function VariableTable({ label, variables }: { label: string; variables: ShownVariable[] }) {
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
