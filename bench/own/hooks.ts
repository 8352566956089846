/** Custom access token hooks in both forms: each adds one claim without a lookup. */
import { withClient } from '../../server/with-client.ts'

const hook = (uri: string) => ({
  AUTH_HOOK_CUSTOM_ACCESS_TOKEN_ENABLED: 'true',
  AUTH_HOOK_CUSTOM_ACCESS_TOKEN_URI: uri,
})

/** A server on this machine. */
export function httpHook(port: number) {
  const secret = `v1,whsec_${Buffer.alloc(32, 1).toString('base64')}`
  return {
    ...hook(`http://127.0.0.1:${port}/`),
    AUTH_HOOK_CUSTOM_ACCESS_TOKEN_SECRETS: secret,
  }
}

/** A database function, which is created. */
export async function functionHook(databaseUrl: string) {
  await withClient({ connectionString: databaseUrl }, (client) =>
    client.query(`create schema bench;
      create function bench.claims(event jsonb) returns jsonb language plpgsql stable as $body$
      begin
        return jsonb_set(event, '{claims,tier}', '"gold"');
      end $body$`),
  )
  return hook('pg-functions://postgres/bench/claims')
}
