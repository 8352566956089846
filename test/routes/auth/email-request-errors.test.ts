/** Email requests rejected for reasons that do not depend on the account. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { password } from '../../support/users.ts'

suite('email requests: validation', () => {
  const servers = sharedServers()
  const off = { AUTH_EXTERNAL_EMAIL_ENABLED: 'false' }
  const noLinks = { AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED: 'false' }
  const noServer = { AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' }
  const listed = { AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: 'ann@example.com' }
  const email = 'ann@example.com'

  const rejections: {
    path: string
    body: object
    env?: Record<string, string>
    status: number
    code: string
    msg?: string
  }[] = [
    {
      path: '/recover',
      body: {},
      status: 400,
      code: 'validation_failed',
      msg: 'Password recovery requires an email',
    },
    { path: '/recover', body: { email: 'x@' }, status: 400, code: 'validation_failed' },
    {
      path: '/recover',
      body: { email, code_challenge: 'short', code_challenge_method: 's256' },
      status: 400,
      code: 'validation_failed',
    },
    {
      path: '/recover',
      body: { email },
      env: off,
      status: 400,
      code: 'email_provider_disabled',
      msg: 'Email logins are disabled: set AUTH_EXTERNAL_EMAIL_ENABLED=true',
    },
    {
      path: '/magiclink',
      body: {},
      status: 422,
      code: 'validation_failed',
      msg: 'Password recovery requires an email',
    },
    { path: '/magiclink', body: { email: 'x' }, status: 400, code: 'validation_failed' },
    { path: '/magiclink', body: { email }, env: off, status: 422, code: 'email_provider_disabled' },
    ...['/otp', '/magiclink'].map((path) => ({
      path,
      body: { email },
      env: noLinks,
      status: 422,
      code: 'email_provider_disabled',
      msg: 'Login with magic link is disabled: set AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED=true',
    })),
    { path: '/otp', body: {}, status: 400, code: 'validation_failed' },
    { path: '/otp', body: { email, phone: '+1555' }, status: 400, code: 'validation_failed' },
    { path: '/otp', body: { email, channel: 'sms' }, status: 400, code: 'validation_failed' },
    {
      path: '/otp',
      body: { email, code_challenge: 'x'.repeat(43), code_challenge_method: 's512' },
      status: 400,
      code: 'validation_failed',
    },
    { path: '/resend', body: { type: 'recovery', email }, status: 400, code: 'validation_failed' },
    { path: '/resend', body: { type: 'signup' }, status: 400, code: 'validation_failed' },
    { path: '/resend', body: { type: 'sms', email }, status: 400, code: 'validation_failed' },
    {
      path: '/resend',
      body: { type: 'signup', email: 'x' },
      status: 400,
      code: 'validation_failed',
    },
    {
      path: '/resend',
      body: { type: 'signup', email },
      env: off,
      status: 400,
      code: 'email_provider_disabled',
    },
    ...['/recover', '/otp', '/magiclink'].flatMap((path) => [
      { path, body: { email }, env: noServer, status: 500, code: 'email_provider_not_configured' },
      {
        path,
        body: { email: 'bob@example.com' },
        env: listed,
        status: 400,
        code: 'email_address_not_authorized',
        msg: 'Email address "bob@example.com" cannot be used as it is not authorized',
      },
      { path, body: { email: 'ann+label@example.com' }, env: listed, status: 200, code: '' },
    ]),
    {
      path: '/signup',
      body: { email: 'bob@example.com', password },
      env: listed,
      status: 400,
      code: 'email_address_not_authorized',
    },
  ]
  for (const { path, body, env = {}, status, code, msg } of rejections) {
    const setting = Object.entries(env).join()
    test(`returns ${status} ${code} for ${path} ${JSON.stringify(body)} ${setting}`, async () => {
      const { app } = await servers(env)
      const response = await call(app, path, body)
      assert.equal(response.statusCode, status, response.body)
      assert.equal(response.json().error_code ?? '', code)
      if (msg) assert.equal(response.json().msg, msg)
    })
  }
})
