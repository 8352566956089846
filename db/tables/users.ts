/** Users, and what belongs to them alone: names, pending sign-ups, addresses that were not proven. */
import type { ColumnType, Generated } from 'kysely'

/** GoTrue's `instance_id`. */
export const nilUuid = '00000000-0000-0000-0000-000000000000'

/** Free-form JSON of a user; top-level keys are merged on update. */
export type UserMetadata = Record<string, unknown>

export interface UsersTable {
  instance_id: string | null
  id: string
  aud: string | null
  role: string | null
  email: string | null
  encrypted_password: string | null
  email_confirmed_at: Date | null
  invited_at: Date | null
  confirmation_sent_at: Date | null
  recovery_sent_at: Date | null
  email_change: Generated<string | null>
  email_change_sent_at: Date | null
  email_change_confirm_status: Generated<number | null>
  last_sign_in_at: Date | null
  raw_app_meta_data: MetadataColumn
  raw_user_meta_data: MetadataColumn
  created_at: Date | null
  updated_at: Date | null
  phone: string | null
  phone_confirmed_at: Date | null
  phone_change: Generated<string | null>
  phone_change_sent_at: Date | null
  confirmed_at: ColumnType<Date | null, never, never>
  banned_until: Date | null
  reauthentication_sent_at: Date | null
  is_sso_user: Generated<boolean>
  deleted_at: Date | null
  is_anonymous: Generated<boolean>
}

type MetadataColumn = ColumnType<UserMetadata | null, string | undefined, string>

/** The columns of every query that reads a user. */
export const userColumns = [
  'users.id',
  'users.aud',
  'users.role',
  'users.email',
  'users.encrypted_password',
  'users.email_confirmed_at',
  'users.invited_at',
  'users.phone',
  'users.phone_confirmed_at',
  'users.confirmation_sent_at',
  'users.confirmed_at',
  'users.recovery_sent_at',
  'users.email_change',
  'users.email_change_sent_at',
  'users.email_change_confirm_status',
  'users.phone_change',
  'users.phone_change_sent_at',
  'users.reauthentication_sent_at',
  'users.last_sign_in_at',
  'users.raw_app_meta_data',
  'users.raw_user_meta_data',
  'users.created_at',
  'users.updated_at',
  'users.banned_until',
  'users.deleted_at',
  'users.is_sso_user',
  'users.is_anonymous',
] as const

export type UserTokenColumns = Record<TokenType, Generated<string | null>>

/** Token types of GoTrue's enum: one live token per user and type. */
export type TokenType = (typeof tokenTypes)[number]

export const tokenTypes = [
  'confirmation_token',
  'reauthentication_token',
  'recovery_token',
  'email_change_token_new',
  'email_change_token_current',
  'phone_change_token',
] as const

/** A name of a user, a name that a user had, or a name that a sign-up reserved. */
export interface UsernamesTable {
  /** The canonical form. */
  username: string
  /** Equal for names that look alike. */
  skeleton: string
  user_id: string | null
  /** The address of a sign-up that is not confirmed yet. */
  reserved_for: string | null
  assigned_at: Date
  /** A hash of the network of the client that chose it, until the user's address is verified. */
  network: Generated<string | null>
  /** An admin set it: it is not one that another user chose before the address was verified. */
  by_admin: Generated<boolean>
  /** Null for the current name of a user; otherwise others may take it after this. */
  expires_at: Date | null
}

export interface PendingSignUpsTable {
  user_id: string
  /** The token of the link or code of the sign-up. */
  token_hash: string
  password_hash: string | null
  user_metadata: ColumnType<UserMetadata, string, string>
  created_at: Date
}

export interface AutoconfirmedAddressesTable {
  user_id: string
  /** An email address or phone number, in its stored form. */
  address: string
  created_at: Date
  /** Who confirmed it instead of its holder. */
  cause: Generated<AssumptionCause>
}

/**
 * An autoconfirming setting, a SCIM client or the provider of a tenant, an admin who changed a confirmed address, or the
 * user beside a verified address (AUTH_SMS_AUTOCONFIRM).
 */
export type AssumptionCause = 'autoconfirm' | 'scim' | 'provider' | 'admin' | 'user'

export interface ImportsTable {
  /** A digest of the file. */
  id: string
  /** Imported and rejected rows. */
  settled: number
  imported: number
  refused: number
  created_at: Date
  updated_at: Date
  finished_at: Date | null
}
