/** Requests of a member about the organization, and the same ones of an admin. */
import { newAddress } from '../../support/users.ts'
import type { World } from '../world/index.ts'
import type { Requests } from './send.ts'

export function createOrganizationRequests(world: World): Requests {
  return {
    ...below('/organizations/:organization_id', world),
    ...below('/admin/organizations/:organization_id', world),
    'POST /admin/organizations/:organization_id/members': {
      payload: { user_id: world.changer.user.id },
    },
    'POST /admin/organizations/:organization_id/connections': { payload: { name: 'Directory' } },
  }
}

function below(path: string, { organization }: World): Requests {
  const { id, member } = organization
  const url = `${path.replace(':organization_id', id)}/members/${member.user.id}`
  return {
    [`PUT ${path}`]: { payload: { name: 'D' } },
    [`GET ${path}/members/:user_id`]: { url },
    [`PUT ${path}/members/:user_id`]: { url, payload: { role: 'admin' } },
    [`DELETE ${path}/members/:user_id`]: { url },
    [`POST ${path}/invitations`]: { payload: { email: newAddress() } },
    [`POST ${path}/roles`]: { payload: { name: 'r3', permissions: ['a:b'] } },
    [`PUT ${path}/roles/:role`]: { payload: { permissions: ['a:c'] } },
    [`POST ${path}/domains`]: { payload: { domain: 'd2.example' } },
    [`POST ${path}/domains/:domain_id/send_code`]: { payload: { address: 'admin@acme.example' } },
    [`POST ${path}/domains/:domain_id/verify`]: { payload: { code: '12345678' } },
    [`PUT ${path}/connections/:connection_id`]: { payload: { name: 'n', default_role: 'member' } },
    [`PUT ${path}/groups/:group_id`]: { payload: { role: 'editor' } },
  }
}
