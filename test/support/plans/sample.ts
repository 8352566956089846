/** Made-up rows: values of each column by its type, or by the statistics that the planner needs. */
import type pg from 'pg'

const nil = "'00000000-0000-0000-0000-000000000000'::uuid"
const uuid = (number: string) => `md5((${number})::text)::uuid`
/** One row in so many has the value. */
const rarely = (value: string, every: number) => `case when n % ${every} = 0 then ${value} end`

/** Columns whose values are not those of their type, by table. */
const values: Record<string, Record<string, string>> = {
  users: {
    instance_id: nil,
    aud: "'authenticated'",
    role: "'authenticated'",
    email: "format('user-%s@example%s.com', n, n % 97)",
    phone: '(4930000000000 + n)::text',
    raw_user_meta_data: `jsonb_build_object('full_name', format('Ada%s Lovelace%s', n % 50, n % 1000))`,
    raw_app_meta_data: `'{"provider": "email", "providers": ["email"]}'`,
    email_confirmed_at: 'case when n % 20 <> 0 then now() end',
    invited_at: rarely('now()', 100),
    banned_until: rarely("now() + n * interval '1 day'", 100),
    deleted_at: rarely('now()', 1000),
    is_sso_user: 'n % 100 = 0',
    is_super_admin: 'false',
    ...Object.fromEntries(
      ['confirmation', 'recovery', 'reauthentication', 'email_change', 'phone_change']
        .flatMap((name) => [`${name}_token`, `${name}_token_new`, `${name}_token_current`])
        .map((name) => [name, "''"]),
    ),
    email_change: "''",
    phone_change: "''",
  },
  identities: {
    provider: "(array['email', 'google', 'github', 'phone'])[1 + n % 4]",
    identity_data: `jsonb_build_object('email', format('user-%s@example%s.com', n, n % 97))`,
  },
  refresh_tokens: { instance_id: nil, revoked: 'n % 2 = 0' },
  sessions: { not_after: rarely("now() + n * interval '1 minute'", 10), oauth_client_id: 'null' },
  audit_log_entries: {
    instance_id: nil,
    payload: `json_build_object('action', 'login', 'actor_id', ${uuid('n / 10')},
      'traits', json_build_object('user_id', ${uuid('n / 10')}),
      'act', json_build_object('sub', ${rarely(uuid('n / 1000'), 100)}))`,
  },
  flow_state: { linking_target_id: rarely(uuid('n'), 10) },
  mfa_factors: { friendly_name: 'n::text' },
  postern_events: { type: "'user.created'" },
  postern_mail_messages: {
    kind: "(array['confirmation', 'magic_link', 'recovery', 'invite'])[1 + n % 4]",
    state:
      "case when n % 100 = 0 then (array['queued', 'sending', 'dead'])[1 + n / 100 % 3] else 'sent' end",
  },
  postern_webhook_deliveries: {
    webhook_id: uuid('n % 5'),
    state:
      "case when n % 500 = 0 then (array['waiting', 'dead'])[1 + n / 500 % 2] else 'delivered' end",
  },
  postern_organizations: { deleted_at: rarely('now()', 1000) },
  postern_usernames: { expires_at: rarely('now()', 100) },
  postern_scim_groups: {
    sso_provider_id: uuid('n / 8'),
    resource: `jsonb_build_object('displayName', 'group-' || n)`,
  },
  scim_users: {
    sso_provider_id: uuid('n / 8'),
    resource: `jsonb_build_object('userName', 'user-' || n, 'active', true)`,
    deleted_at: rarely('now()', 100),
  },
}

/** Columns that name few distinct rows, or rows that several share: so many that Postgres takes them for a share of all. */
const shared: Record<string, string> = {
  client_id: uuid('n % 50'),
  oauth_client_id: uuid('n % 50'),
  sso_provider_id: uuid('n % 50'),
  connection_id: uuid('n % 50'),
  organization_id: uuid('n / 8'),
  group_id: uuid('n / 8'),
  role: "(array['owner', 'admin', 'member', 'member', 'member'])[1 + n % 5]",
  status: "'active'",
}

const byType: Record<string, string> = {
  uuid: uuid('n'),
  text: "'value-' || md5(n::text)",
  varchar: 'left(md5(n::text), 14)',
  bpchar: 'left(md5(n::text), 14)',
  bool: 'n % 20 = 0',
  int2: 'n % 5',
  int4: 'n',
  int8: 'n',
  float8: 'n',
  numeric: 'n',
  timestamptz: "now() - n * interval '8 hours'",
  timestamp: "now() - n * interval '8 hours'",
  json: "'{}'",
  jsonb: "'{}'",
  inet: "'10.0.0.0'::inet + n",
  bytea: 'sha256(n::text::bytea)',
  _text: "'{}'",
}

interface Column {
  name: string
  type: string
  /** Values of an enum. */
  labels: string[] | null
}

/** The statement that inserts rows numbered from 1. */
export async function sampleInsert(client: pg.ClientBase, table: string, rows: number) {
  const { rows: columns } = await client.query<Column>(
    `select attname as name, typname as type,
        (select array_agg(enumlabel::text order by enumsortorder) from pg_enum where enumtypid = pg_type.oid) as labels
      from pg_attribute join pg_type on pg_type.oid = atttypid
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  )
  const names = columns.map(({ name }) => JSON.stringify(name))
  const expressions = columns.map((column) => valueFor(table, column))
  return `insert into ${table} (${names.join(', ')}) overriding system value
    select ${expressions.join(', ')} from generate_series(1, ${rows}) n on conflict do nothing`
}

function valueFor(table: string, { name, type, labels }: Column): string {
  const own =
    values[table]?.[name] ?? (type === 'uuid' || type === 'text' ? shared[name] : undefined)
  if (own !== undefined) return own
  if (labels) return `(array['${labels.join("', '")}'])[1 + n % ${labels.length}]::${type}`
  const found = byType[type]
  if (found === undefined) {
    throw new Error(`${table}.${name} has the type ${type}, of which no sample is made`)
  }
  return found
}
