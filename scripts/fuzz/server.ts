/** The fuzzed server: all features enabled, with sinks for its emails and messages. */
import { mintServiceRole } from '../../server/service-role.ts'
import { withClient } from '../../server/with-client.ts'
import { startMailServer } from '../../test/support/messages/mail-server.ts'
import { startServerProcess } from '../../test/support/processes/server-process.ts'
import { startThrowawayPostgres } from '../../test/support/processes/throwaway-postgres.ts'
import { vendorServer } from '../../test/support/vendor-server.ts'

export interface FuzzedServer {
  url: string
  adminToken: string
  /** The access token and id of a new user. */
  signUpUser(): Promise<{ id: string; token: string }>
}

const secret = 'only-for-fuzzing-and-long-enough-to-pass'

export async function startFuzzedServer(started: AsyncDisposableStack): Promise<FuzzedServer> {
  const ending = { after: (stop: () => Promise<void>) => started.defer(stop) }
  const postgres = await startThrowawayPostgres()
  started.defer(() => postgres.stop())
  await createDatabase(postgres.url)
  const mail = await startMailServer(ending)
  // Accepts each message, and approves no code.
  const vendor = await vendorServer(ending, { status: 201, json: { sid: 'SM1' } })
  const { url } = await startServerProcess(ending, {
    ...mail.env,
    ...settings(vendor.url),
    DATABASE_URL: toDatabaseUrl(postgres.url),
  })

  return {
    url,
    adminToken: await mintServiceRole(secret),
    async signUpUser() {
      const response = await fetch(`${url}/signup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          email: `${crypto.randomUUID()}@example.com`,
          password: 'correct horse battery',
        }),
      })
      if (!response.ok) throw new Error(`POST /signup: ${await response.text()}`)
      const { user, access_token } = (await response.json()) as Session
      return { id: user.id, token: access_token }
    },
  }
}

interface Session {
  user: { id: string }
  access_token: string
}

function settings(vendor: string) {
  return {
    AUTH_JWT_SECRET: secret,
    AUTH_MAILER_AUTOCONFIRM: 'true',
    AUTH_SMTP_MAX_FREQUENCY: '0',
    AUTH_SMS_MAX_FREQUENCY: '0',
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
    AUTH_RATE_LIMIT_SMS_SENT: '1000000',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_ADMIN_IMPERSONATION_ENABLED: 'true',
    AUTH_SMS_PROVIDER: 'twilio',
    AUTH_SMS_TWILIO_ACCOUNT_SID: 'AC0123456789',
    AUTH_SMS_TWILIO_AUTH_TOKEN: 'token',
    AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: 'MG0123456789',
    AUTH_SMS_TWILIO_URL: vendor,
    AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'client',
    AUTH_EXTERNAL_GITHUB_SECRET: 'secret',
    AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'http://auth.example/callback',
    AUTH_EXTERNAL_GITHUB_URL: vendor,
  }
}

async function createDatabase(connectionString: string): Promise<void> {
  await withClient({ connectionString }, (client) =>
    client.query('create database fuzz template template0'),
  )
}

function toDatabaseUrl(postgresUrl: string): string {
  const url = new URL(postgresUrl)
  url.pathname = '/fuzz'
  return url.href
}
