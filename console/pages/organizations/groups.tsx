import { changeByApi, getBody } from '../../core/api.ts'
import { type Resource, useResource } from '../../core/resource.ts'
import { showError, showMessage } from '../../core/toasts.ts'
import { Card } from '../../parts/card.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/text.tsx'
import {
  getOrganizationPath,
  mayIn,
  roleOptions,
  type ShownGroup,
  type ShownRole,
  useRoles,
} from './organization.ts'

export function OrganizationGroups({ id }: { id: string }) {
  const path = `${getOrganizationPath(id)}/groups` as const
  const of = useResource((signal) => getBody(path, signal), path)
  const roles = useRoles(id)
  const choose = async ({ id: group, name }: ShownGroup, role: string) => {
    await changeByApi('PUT', `${path}/${group}`, { role }).finally(of.reload)
    showMessage(`The role of ${name} was changed`)
  }
  return (
    <Card title="Groups" flush>
      <Loaded of={of}>
        {({ groups }) =>
          groups.length === 0 ? (
            <Empty title="No groups">Identity providers create them with SCIM.</Empty>
          ) : (
            <Table
              label="Groups"
              columns={createColumns(roles, choose)}
              rows={groups}
              getKey={({ id }) => id}
            />
          )
        }
      </Loaded>
    </Card>
  )
}

const createColumns = (
  roles: Resource<{ roles: ShownRole[] }>,
  choose: (group: ShownGroup, role: string) => Promise<void>,
): Column<ShownGroup>[] => [
  { title: 'Group', kind: 'wrap', cell: ({ name }) => name },
  {
    title: 'Role of its members',
    cell: (group) => (
      <select
        aria-label={`Role of ${group.name}`}
        value={group.role ?? ''}
        disabled={!mayIn('PUT', '/groups/{group_id}')}
        onChange={(event) => choose(group, event.currentTarget.value).catch(showError)}
      >
        {[['', 'None'] as const, ...roleOptions(roles, group.role ?? 'member')].map(
          ([value, text]) => (
            <option key={value} value={value} selected={value === (group.role ?? '')}>
              {text}
            </option>
          ),
        )}
      </select>
    ),
  },
  { title: 'Priority', kind: 'end', cell: ({ priority }) => priority },
  { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
]
