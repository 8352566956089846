/** Admin writes of organizations, with the change expected in the audit log. */
import { createHmac } from 'node:crypto'

import { asAdmin } from '../admin.ts'
import type { App } from '../server.ts'
import { adminCreatedUser, newAddress } from '../users.ts'
import type { Write } from '../webhooks/webhook-writes.ts'
import { insertGroup } from './groups.ts'
import { adminOk } from './organizations.ts'

const path = '/admin/organizations'
const at = `${path}/{organization_id}`
const sentCode = '12345678'

interface Made {
  app: App
  url: string
  id: string
}

async function organization(app: App): Promise<Made> {
  const { id } = await adminOk<{ id: string }>(app, `POST ${path}`, { name: 'Acme' })
  return { app, id, url: `${path}/${id}` }
}

async function member({ app, url }: Made): Promise<string> {
  const { id } = await adminCreatedUser(app, { email: newAddress() })
  await adminOk(app, `POST ${url}/members`, { user_id: id })
  return `${url}/members/${id}`
}

async function created({ app, url }: Made, list: string, body: object): Promise<string> {
  const { id } = await adminOk<{ id: string }>(app, `POST ${url}/${list}`, body)
  return `${url}/${list}/${id}`
}

const domain = (made: Made) =>
  created(made, 'domains', { domain: `x${made.id.slice(0, 8)}.example` })
const connection = (made: Made) => created(made, 'connections', { name: 'Directory' })

/** A code that was sent, as the server stores it. */
async function sendCode({ app, id }: Made): Promise<string> {
  const code = sentCode
  const rows = app.db.selectFrom('postern_organization_domains').select('id')
  const { id: domainId } = await rows.where('organization_id', '=', id).executeTakeFirstOrThrow()
  const code_hash = createHmac('sha256', app.otp.tokenKey)
    .update(`organization_domain\n${domainId}\n${code}`)
    .digest('base64url')
  await app.db
    .updateTable('postern_organization_domains')
    .set({ code_hash, code_expires_at: new Date(Date.now() + 60_000) })
    .where('id', '=', domainId)
    .execute()
  return code
}

async function group({ app, id, url }: Made): Promise<string> {
  return `${url}/groups/${await insertGroup(app, id, { name: 'Engineering', role: 'member' })}`
}

/** The URL of a write in an existing organization; its other ids do not exist. */
export async function existingOrganizationUrl(app: App, write: string): Promise<string> {
  const made = await organization(app)
  const [, path = ''] = write.split(' ')
  if (path.endsWith('/verify')) {
    const url = await domain(made)
    await sendCode(made)
    return `${url}/verify`
  }
  const url = path.replace('{organization_id}', made.id)
  return url.replaceAll(/\{\w+\}/g, () => crypto.randomUUID())
}

/** Minimal valid bodies of the writes that need one. */
export const organizationBodies: Record<string, object> = {
  [path]: { name: 'Acme' },
  [`${at}/members`]: { user_id: crypto.randomUUID() },
  [`${at}/members/{user_id}`]: { role: 'admin' },
  [`${at}/invitations`]: { email: newAddress() },
  [`${at}/roles`]: { name: 'editor' },
  [`${at}/domains`]: { domain: 'acme.example' },
  [`${at}/domains/{domain_id}/send_code`]: { address: 'admin@acme.example' },
  [`${at}/domains/{domain_id}/verify`]: { code: sentCode },
  [`${at}/connections`]: { name: 'Directory' },
  '/admin/organization-roles': { name: 'editor' },
}

type Act = (made: Made) => Promise<object | undefined>

/** The traits name the new values; few have the fields before and after. */
function writes(name: string, action: string, act: Act): Record<string, Write> {
  const write = async (app: App) => (await act(await organization(app))) ?? {}
  return { [name]: { action, write } }
}

const send = async ({ app }: Made, name: string, body?: object): Promise<undefined> => {
  await adminOk(app, name, body)
}

const ofOne: Record<string, Write> = {
  ...writes(`POST ${path}`, 'organization_created', async () => undefined),
  ...writes(`PUT ${at}`, 'organization_updated', async (made) => {
    await send(made, `PUT ${made.url}`, { name: 'Other' })
    return { before: { name: 'Acme' }, after: { name: 'Other' } }
  }),
  ...writes(`DELETE ${at}`, 'organization_deleted', (made) => send(made, `DELETE ${made.url}`)),
  ...writes(`POST ${at}/restore`, 'organization_restored', async (made) => {
    await send(made, `DELETE ${made.url}`)
    return send(made, `POST ${made.url}/restore`)
  }),
  ...writes(`POST ${at}/purge`, 'organization_deleted', async (made) => {
    await send(made, `DELETE ${made.url}`)
    return send(made, `POST ${made.url}/purge`)
  }),
  ...writes(`POST ${at}/members`, 'organization_member_added', async (made) => {
    await member(made)
    return undefined
  }),
  ...writes(`PUT ${at}/members/{user_id}`, 'organization_member_updated', async (made) => {
    await send(made, `PUT ${await member(made)}`, { role: 'admin' })
    return { before: { role: 'member' }, after: { role: 'admin' } }
  }),
  ...writes(`DELETE ${at}/members/{user_id}`, 'organization_member_removed', async (made) =>
    send(made, `DELETE ${await member(made)}`),
  ),
  ...writes(`POST ${at}/invitations`, 'organization_invitation_created', (made) =>
    send(made, `POST ${made.url}/invitations`, { email: newAddress() }),
  ),
  ...writes(
    `DELETE ${at}/invitations/{invitation_id}`,
    'organization_invitation_revoked',
    async (made) =>
      send(made, `DELETE ${await created(made, 'invitations', { email: newAddress() })}`),
  ),
  ...writes(`POST ${at}/roles`, 'organization_role_created', (made) =>
    send(made, `POST ${made.url}/roles`, { name: 'editor' }),
  ),
  ...writes(`PUT ${at}/roles/{role}`, 'organization_role_updated', async (made) => {
    await send(made, `POST ${made.url}/roles`, { name: 'editor' })
    return send(made, `PUT ${made.url}/roles/editor`, { permissions: ['todos:write'] })
  }),
  ...writes(`DELETE ${at}/roles/{role}`, 'organization_role_deleted', async (made) => {
    await send(made, `POST ${made.url}/roles`, { name: 'editor' })
    return send(made, `DELETE ${made.url}/roles/editor`)
  }),
}

const ofSettings: Record<string, Write> = {
  ...writes(`POST ${at}/domains`, 'organization_domain_added', async (made) => {
    await domain(made)
    return undefined
  }),
  ...writes(
    `POST ${at}/domains/{domain_id}/send_code`,
    'organization_domain_code_sent',
    async (made) =>
      send(made, `POST ${await domain(made)}/send_code`, {
        address: `admin@x${made.id.slice(0, 8)}.example`,
      }),
  ),
  ...writes(
    `POST ${at}/domains/{domain_id}/verify`,
    'organization_domain_verified',
    async (made) => {
      const url = await domain(made)
      await send(made, `POST ${url}/verify`, { code: await sendCode(made) })
      return undefined
    },
  ),
  ...writes(`DELETE ${at}/domains/{domain_id}`, 'organization_domain_removed', async (made) =>
    send(made, `DELETE ${await domain(made)}`),
  ),
  ...writes(`POST ${at}/connections`, 'organization_connection_created', async (made) => {
    await connection(made)
    return undefined
  }),
  ...writes(
    `PUT ${at}/connections/{connection_id}`,
    'organization_connection_updated',
    async (made) => send(made, `PUT ${await connection(made)}`, { enabled: false }),
  ),
  ...writes(
    `DELETE ${at}/connections/{connection_id}`,
    'organization_connection_deleted',
    async (made) => send(made, `DELETE ${await connection(made)}`),
  ),
  ...writes(`PUT ${at}/groups/{group_id}`, 'organization_group_updated', async (made) =>
    send(made, `PUT ${await group(made)}`, { priority: 1 }),
  ),
}

const roles = '/admin/organization-roles'
const newName = () => `r${crypto.randomUUID().slice(0, 8)}`

async function serverRole(app: App): Promise<string> {
  const name = newName()
  await asAdmin(app, 'POST', roles, { name })
  return `${roles}/${name}`
}

const ofServer: Record<string, Write> = {
  [`POST ${roles}`]: {
    action: 'organization_role_created',
    async write(app) {
      await serverRole(app)
      return {}
    },
  },
  [`PUT ${roles}/{role}`]: {
    action: 'organization_role_updated',
    async write(app) {
      await adminOk(app, `PUT ${await serverRole(app)}`, { permissions: ['todos:read'] })
      return {}
    },
  },
  [`DELETE ${roles}/{role}`]: {
    action: 'organization_role_deleted',
    async write(app) {
      await adminOk(app, `DELETE ${await serverRole(app)}`)
      return {}
    },
  },
}

export const organizationWrites: Record<string, Write> = { ...ofOne, ...ofSettings, ...ofServer }
