import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import { startDnsServer } from '../../support/organizations/dns-server.ts'
import {
  as,
  createMember,
  createOwner,
  ok,
  organizationsOn,
} from '../../support/organizations/organizations.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { statusAndCode } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { signedIn, signedInAdminCreatedUser, signUp, signUpUser } from '../../support/users.ts'

interface Domain {
  id: string
  domain: string
  verified_by: string | null
  dns_record: { name: string; value: string }
  email_addresses: string[]
}

suite('domains of an organization', () => {
  const ending = endingOfSuite()
  let server: Built
  let dns: Awaited<ReturnType<typeof startDnsServer>>
  before(async () => {
    dns = await startDnsServer(ending)
    const features = { AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' }
    const env = { ...organizationsOn, ...features, AUTH_ORGANIZATIONS_DNS_SERVERS: dns.server }
    server = await build(ending, { env })
  })

  const newDomain = () => `x${crypto.randomUUID().slice(0, 8)}.example`

  async function withDomain(domain = newDomain()) {
    const { app } = server
    const { owner, organization } = await createOwner(app)
    const path = `/organizations/${organization.id}`
    const added = await ok<Domain>(app, owner, `POST ${path}/domains`, { domain })
    return { app, owner, organization, path, domain, added, url: `${path}/domains/${added.id}` }
  }

  async function verified(domain = newDomain()) {
    const made = await withDomain(domain)
    dns.publish(made.added.dns_record.name, made.added.dns_record.value)
    await ok(made.app, made.owner, `POST ${made.url}/verify`)
    return made
  }

  const addressAt = (domain: string) => `u${crypto.randomUUID().slice(0, 8)}@${domain}`

  async function userAt(domain: string) {
    return (await signedInAdminCreatedUser(server.app, addressAt(domain))).session
  }

  test('are verified by a TXT record', async () => {
    const { app, owner, url, added } = await withDomain()
    const early = await as(app, owner, `POST ${url}/verify`)
    assert.deepEqual(statusAndCode(early), [422, 'organization_domain_unverified'])
    dns.publish(added.dns_record.name, 'something else')
    dns.publish(added.dns_record.name, added.dns_record.value)
    const done = await ok<Domain>(app, owner, `POST ${url}/verify`)
    assert.equal(done.verified_by, 'dns')
  })

  test('are verified by a code sent to a fixed address of the domain', async () => {
    const { app, owner, url, added, domain } = await withDomain()
    const toOtherAddress = await as(app, owner, `POST ${url}/send_code`, {
      address: `ann@${domain}`,
    })
    assert.deepEqual(statusAndCode(toOtherAddress), [422, 'validation_failed'])
    const address = `postmaster@${domain}`
    assert.ok(added.email_addresses.includes(address))
    await ok(app, owner, `POST ${url}/send_code`, { address })
    const { mail } = await nextEmail(server, address)
    const code = /\b\d{8}\b/.exec(mail.text ?? '')?.[0] ?? ''
    const done = await ok<Domain>(app, owner, `POST ${url}/verify`, { code })
    assert.equal(done.verified_by, 'email')
  })

  test('reject every code after five wrong attempts', async () => {
    const { app, owner, url, domain } = await withDomain()
    const address = `admin@${domain}`
    await ok(app, owner, `POST ${url}/send_code`, { address })
    const { mail } = await nextEmail(server, address)
    const code = /\b\d{8}\b/.exec(mail.text ?? '')?.[0] ?? ''
    const wrong = code === '00000000' ? '11111111' : '00000000'
    for (let i = 0; i < 5; i++) {
      const attempt = await as(app, owner, `POST ${url}/verify`, { code: wrong })
      assert.deepEqual(statusAndCode(attempt), [422, 'organization_domain_unverified'])
    }
    const late = await as(app, owner, `POST ${url}/verify`, { code })
    assert.deepEqual(statusAndCode(late), [422, 'organization_domain_unverified'])
  })

  test('are stored in ASCII and rejected when invalid', async () => {
    const { app, owner, path } = await withDomain()
    const { domain } = await ok<Domain>(app, owner, `POST ${path}/domains`, {
      domain: 'BÜCHER.example.',
    })
    assert.equal(domain, 'xn--bcher-kva.example')
    for (const wrong of [
      'localhost',
      '127.0.0.1',
      'a b.example',
      'ann@corp.example',
      '-a.example',
    ]) {
      const response = await as(app, owner, `POST ${path}/domains`, { domain: wrong })
      assert.deepEqual(statusAndCode(response), [422, 'validation_failed'], wrong)
    }
  })

  test('belong to one organization only once verified', async () => {
    const { domain } = await verified()
    const { app, owner, url, added } = await withDomain(domain)
    dns.publish(added.dns_record.name, added.dns_record.value)
    const second = await as(app, owner, `POST ${url}/verify`)
    assert.deepEqual(statusAndCode(second), [409, 'organization_domain_taken'])
  })

  test('add no member while joining by domain is disabled', async () => {
    const { app, domain, path } = await verified()
    const user = await userAt(domain)
    assert.deepEqual(await ok(app, user, 'GET /organizations/suggestions'), { organizations: [] })
    const join = await as(app, user, `POST ${path}/join`)
    assert.deepEqual(statusAndCode(join), [403, 'organization_join_disabled'])
  })

  test('suggest the organization to users with an address of the domain', async () => {
    const { app, owner, organization, domain, path } = await verified()
    await ok(app, owner, `PUT ${path}`, { joining: { domain: 'suggested' } })
    const [user, outsider] = [await userAt(domain), await signUpUser(app)]
    const suggestions = await ok(app, user, 'GET /organizations/suggestions')
    const { id, slug, name } = organization
    assert.deepEqual(suggestions, { organizations: [{ id, slug, name }] })
    await ok(app, user, `POST ${path}/join`)
    await ok(app, user, `GET ${path}`)
    const join = await as(app, outsider, `POST ${path}/join`)
    assert.deepEqual(statusAndCode(join), [403, 'organization_join_disabled'])
  })

  test('make users members in the default role with automatic joining', async () => {
    const { app, owner, organization, domain, path } = await verified()
    await ok(app, owner, `PUT ${path}`, { joining: { domain: 'automatic' }, default_role: 'admin' })
    const user = await userAt(domain)
    const { organizations } = await ok<{ organizations: object[] }>(app, user, 'GET /organizations')
    assert.partialDeepStrictEqual(organizations, [
      { id: organization.id, role: 'admin', joined_by: 'domain' },
    ])
  })

  test('make no user a member while an admin impersonates the user', async () => {
    const { app, owner, path, domain } = await verified()
    await ok(app, owner, `PUT ${path}`, { joining: { domain: 'automatic' } })
    const { user } = await userAt(domain)
    const url = `/admin/users/${user.id}/impersonate`
    const session = await adminCall<Session>(app, 'POST', url, {})
    assert.deepEqual(await ok(app, session, 'GET /organizations'), {
      organizations: [],
      next: null,
    })
  })

  test('apply to confirmed addresses only', async () => {
    const { app, owner, domain, path } = await verified()
    await ok(app, owner, `PUT ${path}`, { joining: { domain: 'automatic' } })
    const user = await userAt(domain)
    const unconfirm = { email_confirmed_at: null }
    await app.db.updateTable('users').set(unconfirm).where('id', '=', user.user.id).execute()
    assert.deepEqual(await ok(app, user, 'GET /organizations'), { organizations: [], next: null })
  })

  test('do not apply to addresses confirmed without verification', async () => {
    const { app, owner, domain, path } = await verified()
    await ok(app, owner, `PUT ${path}`, { joining: { domain: 'automatic' } })
    const email = addressAt(domain)
    await signUp(app, { email })
    const user = await signedIn(app, email)
    assert.deepEqual(await ok(app, user, 'GET /organizations'), { organizations: [], next: null })
    assert.deepEqual(await ok(app, user, 'GET /organizations/suggestions'), { organizations: [] })
    const join = await as(app, user, `POST ${path}/join`)
    assert.deepEqual(statusAndCode(join), [403, 'organization_join_disabled'])
  })

  test('cannot be verified or set to automatic joining by an admin below the default role', async () => {
    const { app, owner, organization, path } = await verified()
    const admin = await createMember(app, organization, 'admin')
    await ok(app, owner, `PUT ${path}`, { default_role: 'owner' })
    const joining = { domain: 'automatic' }
    const switched = await as(app, admin, `PUT ${path}`, { joining })
    assert.deepEqual(statusAndCode(switched), [403, 'organization_role_too_high'])
    await ok(app, owner, `PUT ${path}`, { joining })
    const own = await ok<Domain>(app, admin, `POST ${path}/domains`, { domain: newDomain() })
    dns.publish(own.dns_record.name, own.dns_record.value)
    const verify = await as(app, admin, `POST ${path}/domains/${own.id}/verify`)
    assert.deepEqual(statusAndCode(verify), [403, 'organization_role_too_high'])
    await ok(app, admin, `PUT ${path}`, { joining: { domain: 'off' } })
    await ok(app, admin, `POST ${path}/domains/${own.id}/verify`)
  })

  test('reject a default role with more permissions than the admin who sets it', async () => {
    const { app, organization, path } = await verified()
    const admin = await createMember(app, organization, 'admin')
    const change = await as(app, admin, `PUT ${path}`, { default_role: 'owner' })
    assert.deepEqual(statusAndCode(change), [403, 'organization_role_too_high'])
  })
})
