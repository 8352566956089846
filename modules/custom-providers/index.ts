/** Providers that admins create at run time. */
export {
  changeCustomProvider,
  createCustomProvider,
  prepareChange,
  prepareNew,
  removeCustomProvider,
} from './manage.ts'
export { checkIdentifier } from './rules.ts'
