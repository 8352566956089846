import { linkKind } from './definition.ts'

export const recovery = linkKind({
  envSuffix: 'RECOVERY',
  linkType: 'recovery',
})
