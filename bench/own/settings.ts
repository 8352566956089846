/** Settings of the servers of a run: as in production, without rate limits and send intervals. */
import { createHash, generateKeyPairSync } from 'node:crypto'

import { freePort } from './child.ts'

interface Own {
  databaseUrl: string
  jwtSecret: string
}

export function settings({ databaseUrl, jwtSecret }: Own, port: number, smtpPort: number) {
  return {
    AUTH_DB_DRIVER: 'postgres',
    DATABASE_URL: databaseUrl,
    AUTH_DB_MAX_POOL_SIZE: '20',
    AUTH_API_HOST: '127.0.0.1',
    PORT: String(port),
    AUTH_API_EXTERNAL_URL: `http://127.0.0.1:${port}`,
    AUTH_SITE_URL: 'http://127.0.0.1:3000',
    AUTH_JWT_SECRET: jwtSecret,
    AUTH_ENCRYPTION_KEY: createHash('sha256').update(jwtSecret).digest('base64url'),
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000000000',
    AUTH_SMTP_MAX_FREQUENCY: '0',
    AUTH_SMTP_HOST: '127.0.0.1',
    AUTH_SMTP_PORT: String(smtpPort),
    AUTH_SMTP_ADMIN_EMAIL: 'bench@example.com',
    AUTH_PASSKEY_ENABLED: 'true',
    AUTH_WEBAUTHN_RP_ID: 'localhost',
    AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'Bench',
    AUTH_WEBAUTHN_RP_ORIGINS: 'http://localhost:3000',
    AUTH_SAML_ENABLED: 'true',
    AUTH_SAML_PRIVATE_KEY: samlKey(),
    AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
    AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: 'true',
    AUTH_URI_ALLOW_LIST: 'http://localhost:3000/**',
  }
}

function samlKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ format: 'der', type: 'pkcs1' }).toString('base64')
}

export function smsSettings(port: number) {
  return {
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_PROVIDER: 'twilio',
    AUTH_SMS_TWILIO_ACCOUNT_SID: 'AC1',
    AUTH_SMS_TWILIO_AUTH_TOKEN: 'bench',
    AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: 'MG1',
    AUTH_SMS_TWILIO_URL: `http://127.0.0.1:${port}`,
    AUTH_SMS_MAX_FREQUENCY: '0',
    AUTH_RATE_LIMIT_SMS_SENT: '1000000000',
  }
}

/** Traces and metrics, sent to a collector on this port and exposed to Prometheus. */
export async function telemetrySettings(collectorPort: number) {
  return {
    AUTH_TRACING_ENABLED: 'true',
    // As recommended in docs/telemetry.md.
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.05',
    AUTH_METRICS_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}`,
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(await freePort()),
  }
}
