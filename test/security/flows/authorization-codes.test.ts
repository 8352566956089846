/** PKCE links and codes are useless to an attacker who copies them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createEmailLink } from '../../../modules/otp/index.ts'
import type { Session } from '../../../schemas/session.ts'
import { startTemplateServer } from '../../mail/template-server.ts'
import {
  emailAfter,
  emailedToken,
  open,
  pkcePair,
  redirectParams,
} from '../../support/messages/mail-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, getUser, refresh, statusAndCode, verify } from '../../support/requests.ts'
import { type App, type Built, build } from '../../support/server.ts'
import { confirmedUser } from '../../support/users.ts'

const exchange = (app: App, auth_code: string, code_verifier: string) =>
  call(app, '/token?grant_type=pkce', { auth_code, code_verifier })

/** A confirmed user who requested a sign-in link as a PKCE client. */
async function asked(server: Built) {
  const { user } = await confirmedUser(server)
  const { verifier, fields } = pkcePair()
  const { email } = user
  const message = await emailAfter(server, email, () =>
    call(server.app, '/magiclink', { email, ...fields }),
  )
  return { id: user.id, email, verifier, message }
}

async function exchanged(server: Built) {
  const { verifier, message } = await asked(server)
  const code = redirectParams(await open(server.app, message)).query.code ?? assert.fail()
  const response = await exchange(server.app, code, verifier)
  assert.equal(response.statusCode, 200, response.body)
  return { code, verifier, session: response.json<Session>() }
}

suite('copied PKCE links and codes', () => {
  const servers = sharedServers()

  suite('PKCE link', () => {
    for (const field of ['token', 'token_hash']) {
      test(`does not sign in as ${field} without the verifier`, async () => {
        const server = await servers()
        const { verifier, message } = await asked(server)
        const copied = { type: 'magiclink', [field]: emailedToken(message) }
        assert.deepEqual(statusAndCode(await verify(server.app, copied)), [
          400,
          'validation_failed',
        ])
        const { query } = redirectParams(await open(server.app, message))
        const response = await exchange(server.app, query.code ?? '', verifier)
        assert.equal(response.statusCode, 200, response.body)
      })
    }

    test('with the token hash in a custom template can be exchanged by the app and opened as a link', async () => {
      const server = await servers()
      const { app } = server
      const { id, email } = await asked(server)
      const pkce = { challenge: 'c'.repeat(43), method: 's256' } as const
      const context = { redirectTo: 'http://app.example', baseUrl: 'http://api.example', pkce }
      const make = () =>
        createEmailLink(app, app.db, 'magic_link', { id, address: email }, context, new Date())

      const { tokenHash } = await make()
      const handedOver = await verify(app, { type: 'magiclink', token_hash: tokenHash })
      assert.equal(handedOver.statusCode, 200, handedOver.body)

      const { tokenHash: token } = await make()
      const opened = redirectParams(
        await app.inject(`/verify?${new URLSearchParams({ token, type: 'magiclink' })}`),
      )
      assert.match(opened.query.code ?? '', /^[0-9a-f-]{36}$/)
      assert.equal(opened.fragment.access_token, undefined)
    })
  })

  suite('PKCE email with a custom template', () => {
    for (const part of [
      '{{ .ConfirmationURL }}',
      'https://app.example/?token_hash={{ .TokenHash }}',
    ]) {
      test(`contains ${part} as configured`, async (t) => {
        const template = await startTemplateServer(t, `<a class="own" href="${part}">in</a>`)
        const env = { AUTH_MAILER_TEMPLATES_MAGIC_LINK: template.url }
        const server = await build(t, { env, dev: true })
        const { message } = await asked(server)
        const html = String(message.mail.html)
        assert.match(html, /class="own"/)
        const tokenHash = /token_hash=(\w+)/.exec(html)?.[1]
        if (!part.includes('TokenHash')) return
        const response = await verify(server.app, { type: 'magiclink', token_hash: tokenHash })
        assert.equal(response.statusCode, 200, response.body)
      })
    }
  })

  suite('auth code reuse', () => {
    test('revokes the issued session', async () => {
      const server = await servers()
      const { code, verifier, session } = await exchanged(server)
      const again = await exchange(server.app, code, verifier)
      assert.deepEqual(statusAndCode(again), [404, 'flow_state_not_found'])
      assert.equal((await getUser(server.app, session)).statusCode, 403)
      assert.notEqual((await refresh(server.app, session.refresh_token)).statusCode, 200)
    })

    test('revokes the issued session also after refreshes', async () => {
      const server = await servers()
      const { code, verifier, session } = await exchanged(server)
      const later = (await refresh(server.app, session.refresh_token)).json<Session>()
      await exchange(server.app, code, verifier)
      assert.equal((await getUser(server.app, later)).statusCode, 403)
    })

    test('revokes nothing without the verifier', async () => {
      const server = await servers()
      const { code, session } = await exchanged(server)
      const copied = await exchange(server.app, code, pkcePair().verifier)
      assert.deepEqual(statusAndCode(copied), [404, 'flow_state_not_found'])
      assert.equal((await getUser(server.app, session)).statusCode, 200)
    })
  })
})
