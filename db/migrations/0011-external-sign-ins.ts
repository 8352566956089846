/** Empty: it added a column to flow_state, whose content has a table of its own since 0015. */
export async function up(): Promise<void> {}
