/** An organization with all that it may have, and providers of identities. */
import { oidcInput } from '../../support/custom-providers/requests.ts'
import { adminOk, createMember, ok } from '../../support/organizations/organizations.ts'
import { idpWithLogout } from '../../support/saml/logout.ts'
import { addIdp, begin } from '../../support/saml/server.ts'
import { newClient, newOrganization } from '../../support/scim/clients.ts'
import type { App } from '../../support/server.ts'
import type { Accounts } from './accounts.ts'

export type Organization = Awaited<ReturnType<typeof addOrganization>>

interface Made {
  id: string
}

export async function addOrganization(
  app: App,
  { session, invitee, id: userId }: Accounts,
  issuer: string,
) {
  const { id } = await ok<Made>(app, session, 'POST /organizations', { name: 'Acme' })
  const url = `/admin/organizations/${id}`
  await adminOk(app, `PUT ${url}`, { metadata: { a: 1 }, joining: { domain: 'suggested' } })
  const member = await createMember(app, { id })
  const mail = { email: invitee.email }
  const invitation = await adminOk<Made>(app, `POST ${url}/invitations`, mail)
  const role = { name: 'editor', permissions: ['todos:write'] }
  await adminOk(app, `POST ${url}/roles`, role)
  await adminOk(app, 'POST /admin/organization-roles', { name: 'auditor' })
  const domain = await adminOk<Made>(app, `POST ${url}/domains`, { domain: 'acme.example' })
  const idp = await addIdp(
    app,
    { domains: ['corp.example'], attribute_mapping: { keys: { email: { name: 'mail' } } } },
    idpWithLogout('HTTP-Redirect', 'HTTP-POST'),
  )
  const custom = oidcInput(issuer, { attribute_mapping: { full_name: 'name' } })
  await adminOk(app, 'POST /admin/custom-providers', custom)
  const connection = await adminOk<Made>(app, `POST ${url}/connections`, {
    name: 'OIDC',
    custom_provider: 'custom:acme',
    role_mapping: [{ attribute: 'groups', value: 'staff', role: 'editor' }],
  })
  return {
    organization: { id, url, member, invitation, domain, connection },
    deleted: await addDeleted(app),
    idp,
    saml: await begin(app, { provider_id: idp.id }),
    scim: await addScim(app, id),
    other: await newOrganization(app, 'other.example'),
    userId,
  }
}

async function addDeleted(app: App): Promise<string> {
  const { id } = await adminOk<Made>(app, 'POST /admin/organizations', { name: 'Gone' })
  await adminOk(app, `DELETE /admin/organizations/${id}`)
  return id
}

async function addScim(app: App, organization_id: string) {
  const client = await newClient(app, { organization_id })
  const user = await client.create({
    userName: 'carol',
    externalId: 'x1',
    name: { givenName: 'Carol' },
    emails: [{ value: 'carol@corp.example', type: 'work', primary: true }],
  })
  const group = await client.createGroup('Staff', [user.id])
  return { client, user, group }
}
