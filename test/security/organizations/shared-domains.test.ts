/** Domains that no organization may have, and guesses at the code of one. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { as, createOwner, ok, organizationsOn } from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { signedInAdminCreatedUser } from '../../support/users.ts'

const env = { ...organizationsOn, AUTH_ORGANIZATIONS_ALLOWED_DOMAINS: 'comcast.net' }

suite('domains of several holders', () => {
  const servers = sharedServers()

  for (const domain of ['co.uk', 'GITHUB.IO', 'gmail.com', 'mail.gmail.com', 'gmx.de']) {
    test(`cannot be added: ${domain}`, async () => {
      const { app } = await servers(env)
      const { owner, organization } = await createOwner(app)
      const path = `POST /organizations/${organization.id}/domains`
      const refused = await as(app, owner, path, { domain })
      assert.deepEqual(statusAndCode(refused), [422, 'organization_domain_shared'])
    })
  }

  test('do not keep out the domains below them, nor those that the operator allows', async () => {
    const { app } = await servers(env)
    const { owner, organization } = await createOwner(app)
    for (const domain of [
      'acme.co.uk',
      'acme.github.io',
      'a.example.com',
      'corp.test',
      'comcast.net',
    ]) {
      await ok(app, owner, `POST /organizations/${organization.id}/domains`, { domain })
    }
  })

  test('add no member where one was verified earlier', async () => {
    const { app } = await servers(env)
    const { owner, organization } = await createOwner(app)
    const path = `/organizations/${organization.id}`
    await ok(app, owner, `PUT ${path}`, { joining: { domain: 'suggested' } })
    const now = new Date()
    await app.db
      .insertInto('postern_organization_domains')
      .values({
        id: crypto.randomUUID(),
        organization_id: organization.id,
        domain: 'gmail.com',
        dns_token: 'x',
        verified_at: now,
        verified_by: 'dns',
        created_at: now,
        updated_at: now,
      })
      .execute()
    const email = `x${crypto.randomUUID().slice(0, 8)}@gmail.com`
    const { session } = await signedInAdminCreatedUser(app, email)
    const suggested = await ok<unknown[]>(app, session, 'GET /organizations/suggestions')
    assert.deepEqual(Object.values(suggested).flat(), [])
    assert.equal((await as(app, session, `POST ${path}/join`)).statusCode, 403)
  })
})

suite('codes of a domain', () => {
  const servers = sharedServers()

  async function sendCode(server: Built, domain: string) {
    const { app } = server
    const { owner, organization } = await createOwner(app)
    const path = `/organizations/${organization.id}/domains`
    const { id } = await ok<{ id: string }>(app, owner, `POST ${path}`, { domain })
    const address = `admin@${domain}`
    const send = () => as(app, owner, `POST ${path}/${id}/send_code`, { address })
    const { mail } = await emailAfter(server, address, send)
    const code = /\b\d{8}\b/.exec(mail.text ?? '')?.[0] ?? ''
    const guess = async (given = code === '00000000' ? '11111111' : '00000000') =>
      statusAndCode(await as(app, owner, `POST ${path}/${id}/verify`, { code: given }))
    return { send, guess, code }
  }

  test('cannot be guessed more often with each message', async () => {
    const server = await servers(env)
    const { send, guess } = await sendCode(server, `x${crypto.randomUUID().slice(0, 8)}.example`)
    const wrong = [422, 'organization_domain_unverified']
    for (const _ of [1, 2, 3]) assert.deepEqual(await guess(), wrong)
    assert.equal((await send()).statusCode, 200)
    for (const _ of [1, 2]) assert.deepEqual(await guess(), wrong)
    const refused = await send()
    assert.deepEqual(statusAndCode(refused), [429, 'over_request_rate_limit'])
    assert.ok(Number(refused.headers['retry-after']) > 3_000)
  })

  test('cannot be guessed without limit by several organizations', async () => {
    const server = await servers(env)
    const domain = `x${crypto.randomUUID().slice(0, 8)}.example`
    for (const _ of [1, 2, 3, 4]) {
      const { guess } = await sendCode(server, domain)
      for (const _ of [1, 2, 3, 4, 5]) assert.equal((await guess())[0], 422)
    }
    const { guess, code } = await sendCode(server, domain)
    await guess()
    assert.deepEqual(await guess(), [429, 'over_request_rate_limit'])
    assert.deepEqual(await guess(code), [429, 'over_request_rate_limit'])
  })
})
