export async function doctorCommand(_options: { json?: boolean }): Promise<void> {}
