/** Invitations, domains and audit entries of organizations. */
import { ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

const ofOrganization = 'uuid not null references postern_organizations (id) on delete cascade'
const times = { created_at: 'timestamptz not null', updated_at: 'timestamptz not null' }

export async function up(db: MigrationDb): Promise<void> {
  await invitations(db)
  await domains(db)
  await auditEntries(db)
  await indexes(db)
}

async function invitations(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_organization_invitations',
    {
      id: 'uuid primary key',
      organization_id: ofOrganization,
      email: 'text not null',
      role: 'text not null',
      token_hash: 'text not null unique',
      invited_by: 'uuid references users (id) on delete set null',
      created_at: 'timestamptz not null',
      expires_at: 'timestamptz not null',
    },
    ['unique (organization_id, email)'],
  )
}

async function domains(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_organization_domains',
    {
      id: 'uuid primary key',
      organization_id: ofOrganization,
      domain: 'text not null',
      dns_token: 'text not null',
      verified_at: 'timestamptz',
      verified_by: "text check (verified_by in ('dns', 'email', 'admin'))",
      email: 'text',
      code_hash: 'text',
      code_attempts: 'integer not null default 0',
      code_expires_at: 'timestamptz',
      ...times,
    },
    ['unique (organization_id, domain)'],
  )
}

/** What the members of an organization may read of the audit log. */
async function auditEntries(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_organization_audit_entries', {
    id: 'uuid primary key',
    organization_id: ofOrganization,
    action: 'text not null',
    actor_id: 'uuid',
    actor_name: "text not null default ''",
    traits: "jsonb not null default '{}'",
    ip_address: "text not null default ''",
    created_at: 'timestamptz not null',
  })
}

async function indexes(db: MigrationDb): Promise<void> {
  await ensureIndexes(db, [
    `create index if not exists postern_organization_invitations_email_idx
      on postern_organization_invitations (email)`,
    `create index if not exists postern_organization_invitations_invited_by_idx
      on postern_organization_invitations (invited_by)`,
    `create unique index if not exists postern_organization_domains_verified_idx
      on postern_organization_domains (domain) where verified_at is not null`,
    `create index if not exists postern_organization_audit_entries_idx
      on postern_organization_audit_entries (organization_id, created_at, id)`,
  ])
}
