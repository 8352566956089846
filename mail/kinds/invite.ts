import { linkKind } from './definition.ts'

export const invite = linkKind({
  envSuffix: 'INVITE',
  linkType: 'invite',
})
