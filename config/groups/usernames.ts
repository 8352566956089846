import { booleanField, duration, group, integerField, listField } from '../core/fields.ts'

export const usernames = group('Usernames', {
  AUTH_USERNAMES_ENABLED: booleanField(
    'Users may have a username in addition to their email address or phone number, and sign in with it.',
    false,
  ),
  AUTH_USERNAMES_MIN_LENGTH: integerField('Minimum number of characters of a new username.', {
    default: 3,
    minimum: 1,
    maximum: 64,
  }),
  AUTH_USERNAMES_MAX_LENGTH: integerField('Maximum number of characters of a new username.', {
    default: 32,
    minimum: 1,
    maximum: 64,
  }),
  AUTH_USERNAMES_ALLOW_UNICODE: booleanField(
    'Allows letters and digits of every script (PRECIS, RFC 8265). If false, a new username consists of a to z, digits, dots, underscores and hyphens.',
    false,
  ),
  AUTH_USERNAMES_RESERVED: listField(
    'Usernames that no user can choose. Names that look like them are reserved too.',
    {
      default: [
        'admin',
        'administrator',
        'anonymous',
        'api',
        'auth',
        'help',
        'info',
        'moderator',
        'null',
        'owner',
        'postmaster',
        'root',
        'security',
        'staff',
        'support',
        'system',
        'undefined',
        'webmaster',
      ],
    },
  ),
  AUTH_USERNAMES_CHANGE_INTERVAL: duration(
    'Minimum time between two changes of a username by its user. 0 means no limit.',
    { default: '720h' },
  ),
  AUTH_USERNAMES_MAX_UNVERIFIED: integerField(
    'Maximum number of usernames that clients of one network choose in a day for addresses that are not verified. 0 means no limit.',
    { default: 20, minimum: 0 },
  ),
  AUTH_USERNAMES_HOLD: duration(
    'How long only the same user can take a username back after a change. 0 means that others can take it immediately.',
    { default: '2160h' },
  ),
})
